// Closed-loop load generator: T tables x 4 websocket clients, random legal moves.
// node load.mjs --target boardgameio|colyseus|whist --url http://127.0.0.1:PORT --tables 50
//   [--warm 3] [--secs 12] [--think 0] [--drain 0] [--pids PID,PID] [--out file.json] [--acks file.jsonl] [--label x]
// Phases: create all tables -> wait for the server to rest -> warm-up -> measured window -> drain: no new games; after --drain seconds no new moves,
// and the ones under way are awaited. A table whose game ends is closed and replaced by a new one (create + join +
// connect is part of the load). Every game, finished or not, is re-scored by an independent referee in this process;
// a mismatch counts in refereeErrors. CPU is summed over --pids and all their descendants.
import { createRequire } from 'node:module';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
const R = createRequire(import.meta.url)('../common/rules.cjs');
const A = Object.fromEntries(process.argv.slice(2).join(' ').split('--').filter(Boolean).map((s) => s.trim().split(/\s+/, 2)));
const cfg = { target: A.target, url: A.url, tables: +(A.tables || 10), warm: +(A.warm || 3), secs: +(A.secs || 12), think: +(A.think || 0), drain: +(A.drain || 0), pids: (A.pids || '').split(',').filter(Boolean), label: A.label || A.target };
const { createTable } = await import(`./targets/${cfg.target}.mjs`);
const SETUP_S = 60, FIRST_VIEW_S = 45, LAST_MOVES_S = 5, SETTLE_S = 20, AT_REST = 0.12;

const lat = []; let measuring = false, stop = false, halt = false;
const c = { moves: 0, movesTotal: 0, gamesStarted: 0, gamesFinished: 0, gamesFinishedInWindow: 0, refereeErrors: 0, errors: 0, unanswered: 0 };
const errs = {};
const fail = (e) => { c.errors++; const k = String(e && e.message || e).slice(0, 80); errs[k] = (errs[k] || 0) + 1; };
const live = new Set(), acked = [];

let ready = 0, openGate; const gate = new Promise((r) => { openGate = r; });
async function runTable() {
  while (!stop) {
    let resolve; const done = new Promise((r) => { resolve = r; });
    // referee: every accepted move of this game by its sequence number n (re-scored at the end)
    const ref = { moves: new Map(), totals: new Map(), bad: 0 };
    const pend = [null, null, null, null], over = [false, false, false, false];
    let tbl = null, started = false, seenAll; const latest = [null, null, null, null], seen = new Promise((r) => { seenAll = r; });
    const game = { pending: () => pend.some((p) => p !== null && p.n !== Infinity), kick: () => resolve('stopped') };
    const onView = (s, v) => {
      if (!started) { latest[s] = v; if (latest.every(Boolean)) seenAll(true); return; }
      const p = pend[s], n = v.n;
      if (p !== null && n > p.n) {               // the mover sees its own move applied
        pend[s] = null; c.movesTotal++;
        if (measuring) { c.moves++; lat.push(performance.now() - p.t); }
        if (ref.moves.has(p.n)) ref.bad++; ref.moves.set(p.n, { s, x: p.x, phase: p.phase, dealer: p.dealer });
      }
      if (v.phase === 'over') {
        if (!over[s]) { over[s] = true; ref.totals.set(R.DEALS, [...v.scores]); if (over.every(Boolean)) resolve('over'); }
        return;
      }
      if (v.turn === s && pend[s] === null && !halt && v.hand) {
        const { phase, dealer } = v;
        const legal = phase === 'bid' ? R.legalBids(v.bids, s, dealer) : R.legalCards(v.hand, v.led);
        const x = legal[(Math.random() * legal.length) | 0];
        if (s === dealer && phase === 'bid') ref.totals.set(v.deal, [...v.scores]);
        const go = () => {
          if (halt) { pend[s] = null; return; }
          pend[s] = { n, x, phase, dealer, t: performance.now() }; tbl.seats[s].send(x, phase);
        };
        if (cfg.think) { pend[s] = { n: Infinity }; setTimeout(go, cfg.think * (0.5 + Math.random())); } else go();
      }
    };
    try { tbl = await createTable(cfg, onView, fail); } catch (err) { fail(err); await sleep(0.2); continue; }
    // a table counts as ready when all 4 seats hold a first view; the first batch of tables starts together
    if (!await Promise.race([seen, sleep(FIRST_VIEW_S).then(() => false)])) { fail(new Error('seats got no first view in time')); tbl.close(); continue; }
    ready++; await gate;
    c.gamesStarted++; live.add(game); started = true;
    for (let s = 0; s < 4; s++) onView(s, latest[s]);
    const how = await done; live.delete(game);
    if (how === 'over') { c.gamesFinished++; if (measuring) c.gamesFinishedInWindow++; } else if (game.pending()) c.unanswered++;
    c.refereeErrors += ref.bad || refCheck(ref, how === 'over') ? 1 : 0;
    if (tbl.acked) acked.push(tbl.acked());
    tbl.close();
  }
}
// Independent re-scoring from the ordered moves (does not use common/rules.cjs trick or score code): the first dealer is
// the game's own, the deal passes clockwise. Of an unfinished game all moves so far are checked; 1 for a mismatch.
function refCheck({ moves, totals }, finished) {
  let n = 0; const total = [0, 0, 0, 0], first = moves.get(0)?.dealer ?? 0;
  const shown = (deal) => !totals.has(deal) || total.every((x, i) => x === totals.get(deal)[i]);
  const rest = () => (!finished && n === moves.size ? 0 : 1);
  for (let d = 0; d < R.DEALS; d++) {
    if (!shown(d)) return 1;
    const dealer = (first + d) % 4, bids = [], taken = [0, 0, 0, 0], seen = new Set(); let turn = (dealer + 1) % 4;
    for (let i = 0; i < 4; i++) {
      const m = moves.get(n); if (!m) return rest(); n++;
      if (m.phase !== 'bid' || m.s !== turn || m.dealer !== dealer) return 1;
      bids[m.s] = m.x; turn = (turn + 1) % 4;
    }
    if (bids.reduce((a, b) => a + b, 0) === 8) return 1;
    turn = (dealer + 1) % 4;
    for (let t = 0; t < 8; t++) {
      let best = null;
      for (let i = 0; i < 4; i++) {
        const m = moves.get(n); if (!m) return rest(); n++;
        if (m.phase !== 'play' || m.s !== turn || seen.has(m.x)) return 1;
        seen.add(m.x); if (!best || (m.x >> 3 === best.x >> 3 && m.x > best.x)) best = m; turn = (turn + 1) % 4;
      }
      taken[best.s]++; turn = best.s;
    }
    for (let i = 0; i < 4; i++) total[i] += bids[i] === taken[i] ? 5 + bids[i] : -Math.abs(bids[i] - taken[i]);
  }
  return moves.size === n && shown(R.DEALS) ? 0 : 1;
}
const sleep = (s) => new Promise((r) => setTimeout(r, s * 1000));
// [parent, CPU seconds of the process and of its children that have ended]
const statOf = (pid) => { try { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' '); return [f[1], (+f[11] + +f[12] + +f[13] + +f[14]) / 100]; } catch { return null; } };
function family(roots) {
  const children = new Map();
  for (const pid of readdirSync('/proc')) { if (/^\d+$/.test(pid)) { const stat = statOf(pid); if (stat) { if (!children.has(stat[0])) children.set(stat[0], []); children.get(stat[0]).push(pid); } } }
  const all = [...roots]; for (let i = 0; i < all.length; i++) all.push(...(children.get(all[i]) || []));
  return [...new Set(all)];
}
const cpuOf = (pids) => pids.reduce((sum, pid) => sum + (statOf(pid)?.[1] ?? 0), 0);
const peakMiB = (pids) => pids.reduce((sum, pid) => { try { return sum + +/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1] / 1024; } catch { return sum; } }, 0);
const cores = () => readFileSync('/proc/stat', 'utf8').split('\n').filter((l) => /^cpu\d/.test(l)).map((l) => { const f = l.split(/\s+/).slice(1).map(Number); return { busy: (f[0] + f[1] + f[2] + f[5] + f[6]) / 100, steal: f[7] / 100 }; });
const snap = () => ({ t: performance.now(), srv: cfg.pids.length ? cpuOf(family(cfg.pids)) : NaN, me: cpuOf([process.pid]), cores: cores() });

const t0 = performance.now();
const all = []; for (let i = 0; i < cfg.tables; i++) { all.push(runTable()); if (i % 10 === 9) await sleep(0.05); }
while (ready < cfg.tables && performance.now() - t0 < SETUP_S * 1000) await sleep(0.05);
const setupS = (performance.now() - t0) / 1000; const readyAtStart = ready;
// What making accounts and tables leaves to do behind the scenes is no part of a move: play begins at a server at rest.
for (let left = SETTLE_S; left > 0 && cfg.pids.length; left -= 0.5) { const before = cpuOf(family(cfg.pids)); await sleep(0.5); if (cpuOf(family(cfg.pids)) - before < 0.5 * AT_REST) break; }
openGate(); console.log('PLAYING');
await sleep(cfg.warm);
const a = snap(); measuring = true; let act = 0, actN = 0; const iv = setInterval(() => { act += live.size; actN++; }, 50); await sleep(cfg.secs); measuring = false; clearInterval(iv); const b = snap();
stop = true;
const waitFor = async (until, seconds) => { const end = performance.now() + seconds * 1000; while (performance.now() < end && !until()) await sleep(0.05); };
await waitFor(() => live.size === 0, cfg.drain);
halt = true;
await waitFor(() => ![...live].some((game) => game.pending()), LAST_MOVES_S);
for (const game of [...live]) game.kick();
await Promise.race([Promise.all(all), sleep(LAST_MOVES_S)]);
lat.sort((x, y) => x - y);
const q = (p) => lat.length ? +lat[Math.min(lat.length - 1, Math.floor(p * lat.length))].toFixed(2) : null;
const dt = (b.t - a.t) / 1000, srv = (b.srv - a.srv) / dt, me = (b.me - a.me) / dt;
const core = (i) => (b.cores[i].busy - a.cores[i].busy) / dt;
const out = { label: cfg.label, target: cfg.target, tables: cfg.tables, clients: cfg.tables * 4, thinkMs: cfg.think, dealsPerGame: R.DEALS, windowS: +dt.toFixed(2), movesPerS: +(c.moves / dt).toFixed(1), p50: q(0.5), p90: q(0.9), p99: q(0.99), max: q(1), movesInWindow: c.moves, movesTotal: c.movesTotal, gamesStarted: c.gamesStarted, gamesFinished: c.gamesFinished, gamesFinishedInWindow: c.gamesFinishedInWindow, unanswered: c.unanswered, refereeErrors: c.refereeErrors, errors: c.errors, errs, setupS: +setupS.toFixed(2), readyAtStart, activeTablesMean: +(act / actN).toFixed(1),
  serverCpu: +srv.toFixed(3), loadgenCpu: +me.toFixed(3), movesPerServerCpuS: +(c.moves / (b.srv - a.srv)).toFixed(0), foreignCpuCore0: +Math.max(0, core(0) - srv).toFixed(3), foreignCpuCore1: +Math.max(0, core(1) - me).toFixed(3), steal: +((b.cores[0].steal + b.cores[1].steal - a.cores[0].steal - a.cores[1].steal) / dt).toFixed(3), serverPeakRssMiB: cfg.pids.length ? +peakMiB(family(cfg.pids)).toFixed(0) : null, at: new Date().toISOString() };
console.log(JSON.stringify(out));
if (A.out) writeFileSync(A.out, JSON.stringify(out, null, 1));
if (A.acks) writeFileSync(A.acks, acked.map((each) => JSON.stringify(each)).join('\n'));
process.exit(c.refereeErrors || c.movesTotal === 0 ? 1 : 0);

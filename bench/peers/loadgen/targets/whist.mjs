// Target adapter: our own gateway. One socket a seat; views are followed from Snapshot, Delta and Private frames
// (libs/wire/frames.py). A table's public frames are the same bytes at every seat, so the first seat that gets one
// decodes it, and the others only compare bytes; each seat still moves on when its own copy arrives.
// env: WHIST_ADMIN (operators' listener), WHIST_OPERATOR_TOKEN, WHIST_SOCKET (ws://host:port/v1/ws), WHIST_TABLES (a file
// of tables made before, [{table, tokens}], to be used first)
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from '../socket.mjs';
const R = createRequire(import.meta.url)('../../common/rules.cjs');

const { WHIST_ADMIN, WHIST_OPERATOR_TOKEN, WHIST_SOCKET, WHIST_TABLES } = process.env;
const given = WHIST_TABLES ? JSON.parse(readFileSync(WHIST_TABLES)) : [];
const SUITS = 'CDHS', RANKS = '789TJQKA';
const TEXT = Array.from({ length: 32 }, (_, card) => RANKS[card & 7] + SUITS[card >> 3]);
const CARD = Object.fromEntries(TEXT.map((text, card) => [text, card]));
const EMPTY = [-1, -1, -1, -1];
// The byte that tells frames apart: {"t":"delta", {"t":"private" and so on.
const KIND_AT = 6, DELTA = 'd'.charCodeAt(0), P = 'p'.charCodeAt(0), R_ = 'r'.charCodeAt(0), I = 'i'.charCodeAt(0);

const fromView = (view, seq, turn) => ({
  seq, decision: view.turn, req: '', mover: -1, n: view.turn, phase: view.phase === 'draw' ? 'bid' : view.phase,
  turn: view.to_act ?? -1, dealer: view.dealer ?? -1, deal: view.round ?? -1, led: ledOf(view.trick),
  bids: view.bids.map((bid) => bid ?? -1), taken: view.taken, scores: view.scores,
  trick: view.trick.cards.map((card) => (card ? CARD[card] : -1)), last: EMPTY, dealt: false,
});
const ledOf = (trick) => (trick.lead !== null && trick.cards[trick.lead] ? CARD[trick.cards[trick.lead]] >> 3 : -1);

// The public state after one row; states are never changed, so that seats may share them.
function after(old, delta) {
  let { n, phase, dealer, deal, led, bids, taken, scores, trick, last } = old, dealt = false;
  for (const event of delta.events) {
    switch (event.k) {
      case 'bid': bids = bids.slice(); bids[event.seat] = event.bid; n++; if (!bids.includes(-1)) phase = 'play'; break;
      case 'play': {
        const card = CARD[event.card];
        trick = trick.slice(); if (led < 0) led = card >> 3;
        trick[event.seat] = card; n++; break;
      }
      case 'trick': taken = taken.slice(); taken[event.winner]++; last = trick; trick = EMPTY; led = -1; break;
      case 'scored': scores = event.totals; break;
      case 'dealt': dealt = true; deal = event.round; dealer = event.dealer; phase = 'bid'; bids = EMPTY; taken = [0, 0, 0, 0]; trick = EMPTY; led = -1; break;
      case 'over': phase = 'over'; break;
      case 'dealer': case 'schedule': break;
      default: throw new Error(`unknown event ${event.k}`);
    }
  }
  return { seq: delta.seq, decision: delta.turn, req: delta.req || '', mover: delta.seat, n, phase, turn: delta.to_act, dealer, deal, led, bids, taken, scores, trick, last, dealt };
}

class Seat {
  constructor(table, number, token, onView, onError) {
    this.table = table; this.number = number; this.onView = onView; this.onError = onError;
    this.state = null; this.hand = null; this.awaitsHand = false; this.req = ''; this.played = -1;
    this.socket = new Socket(WHIST_SOCKET, {
      onOpen: () => { this.socket.send(JSON.stringify({ t: 'hello', token })); this.socket.send(JSON.stringify({ t: 'join', table: table.id })); },
      onMessage: (bytes, start, end) => this.take(bytes, start, end),
      onError,
    });
  }

  // What load.mjs reads of a view.
  get n() { return this.state.n; } get phase() { return this.state.phase; } get turn() { return this.state.turn; }
  get dealer() { return this.state.dealer; } get deal() { return this.state.deal; } get led() { return this.state.led; }
  get bids() { return this.state.bids; } get taken() { return this.state.taken; } get scores() { return this.state.scores; }
  get trick() { return this.state.trick; } get last() { return this.state.last; }

  take(bytes, start, end) {
    if (bytes[start + KIND_AT] === DELTA) { this.delta(bytes, start, end); return; }
    if (bytes[start + KIND_AT] === P && bytes[start + KIND_AT + 1] === R_ && bytes[start + KIND_AT + 2] === I) {
      if (this.awaitsHand) this.private(JSON.parse(bytes.utf8Slice(start, end)));
      return;
    }
    const frame = JSON.parse(bytes.utf8Slice(start, end));
    switch (frame.t) {
      case 'welcome': this.table.accounts[this.number] = frame.account; break;
      case 'snapshot':
        this.state = fromView(frame.view, frame.seq); this.place = frame.seat;
        this.hand = frame.view.hand.map((text) => CARD[text]);
        this.onView(this.place, this); break;
      case 'error': this.onError(new Error(frame.reason)); break;
      case 'over': case 'presence': case 'ack': break;
      default: this.onError(new Error(`unexpected ${frame.t}`));
    }
  }

  delta(bytes, start, end) {
    const { table } = this, seq = this.state.seq + 1;
    let row = table.rows.get(seq);
    if (row === undefined) {
      const delta = JSON.parse(bytes.utf8Slice(start, end));
      if (delta.seq !== seq) { this.onError(new Error('rows out of order')); return; }
      row = { bytes: Buffer.from(bytes.subarray(start, end)), state: after(this.state, delta), seen: 1 };
      table.rows.set(seq, row);
    } else {
      if (row.bytes.compare(bytes, start, end) !== 0) { this.onError(new Error('seats see different rows')); return; }
      if (++row.seen === 4) table.rows.delete(seq);
    }
    const state = this.state = row.state;
    if (state.mover === this.place && state.req !== '') {
      if (state.req !== this.req) this.onError(new Error('not my request'));
      table.acked.push([state.seq, this.place, state.req]);
      if (this.played >= 0) { this.hand.splice(this.hand.indexOf(this.played), 1); this.played = -1; }
    }
    if (state.dealt) { this.awaitsHand = true; this.hand = null; return; }
    this.onView(this.place, this);
  }

  private(frame) {
    const dealt = frame.events.find((event) => event.k === 'dealt');
    if (dealt === undefined) return;
    this.awaitsHand = false; this.hand = dealt.hand.map((text) => CARD[text]);
    this.onView(this.place, this);
  }

  send(x, phase) {
    this.req = String(this.state.n); if (phase === 'play') this.played = x;
    const action = phase === 'bid' ? `{"bid":${x}}` : `{"play":"${TEXT[x]}"}`;
    this.socket.send(`{"t":"act","table":"${this.table.id}","req":"${this.req}","turn":${this.state.decision},"action":${action}}`);
  }
}

// The operators' listener serves a few requests at once and turns the others away.
const CREATED_AT_ONCE = 8, queue = []; let creating = 0;
async function inTurn(work) {
  if (creating === CREATED_AT_ONCE) await new Promise((go) => { queue.push(go); }); else creating++;
  try { return await work(); } finally { const next = queue.shift(); if (next) next(); else creating--; }
}

async function askTable() {
  const answer = await inTurn(() => fetch(`${WHIST_ADMIN}/admin/v1/bench-tables`, {
    method: 'POST', body: JSON.stringify({ rounds: R.DEALS, count: 1 }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${WHIST_OPERATOR_TOKEN}` },
  }));
  if (!answer.ok) throw new Error(`bench-tables -> ${answer.status}`);
  return (await answer.json()).tables[0];
}

export async function createTable(cfg, onView, onError) {
  const { table: id, tokens } = given.pop() ?? await askTable();
  const table = { id, accounts: ['', '', '', ''], acked: [], rows: new Map() };
  // Places at the table are drawn by lot: a guest's number is not its seat.
  const guests = tokens.map((token, number) => new Seat(table, number, token, onView, onError));
  const bySeat = (seat) => guests.find((guest) => guest.place === seat);
  const seats = [0, 1, 2, 3].map((seat) => ({ send: (x, phase) => bySeat(seat).send(x, phase) }));
  return {
    seats, close: () => guests.forEach((guest) => guest.socket.close()),
    // [row, account, request] of every acknowledged move: what must be found in the journal.
    acked: () => ({ table: id, accounts: [0, 1, 2, 3].map((seat) => table.accounts[bySeat(seat)?.number] ?? ''), moves: table.acked }),
  };
}

// A WebSocket client of some fifty lines, so that the load and not its library is measured: binary frames, no
// extensions, messages in one frame (our server never fragments). onMessage gets the payload as a view of the read
// buffer, valid during the call alone.
import { connect } from 'node:net';

const CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

export class Socket {
  constructor(url, { onOpen, onMessage, onError }) {
    const { hostname, port, pathname } = new URL(url);
    this.onMessage = onMessage; this.onError = onError; this.closing = false; this.rest = null;
    this.tcp = connect({ host: hostname, port: +port, noDelay: true });
    this.tcp.on('error', (error) => this.fail(error));
    this.tcp.on('close', () => this.fail(new Error('socket closed')));
    this.tcp.on('data', (first) => this.handshake(first, onOpen));
    this.tcp.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`
      + 'Sec-WebSocket-Key: d2hpc3QtbG9hZC1oYXJuZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n');
  }

  fail(error) { if (!this.closing) { this.closing = true; this.onError(error); } }

  handshake(chunk, onOpen) {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk; this.rest = null;
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) { this.rest = bytes; return; }
    if (!bytes.latin1Slice(0, 12).endsWith('101')) { this.fail(new Error(bytes.latin1Slice(0, 32))); this.tcp.destroy(); return; }
    this.tcp.removeAllListeners('data');
    this.tcp.on('data', (more) => this.read(more));
    onOpen();
    if (bytes.length > end + 4) this.read(bytes.subarray(end + 4));
  }

  read(chunk) {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk; this.rest = null;
    let at = 0;
    while (bytes.length - at >= 2) {
      let size = bytes[at + 1], head = 2;
      if (size === 126) { if (bytes.length - at < 4) break; size = bytes.readUInt16BE(at + 2); head = 4; }
      else if (size === 127) { if (bytes.length - at < 10) break; size = Number(bytes.readBigUInt64BE(at + 2)); head = 10; }
      if (bytes.length - at < head + size) break;
      const kind = bytes[at] & 15, start = at + head; at = start + size;
      if (kind === BINARY || kind === TEXT) this.onMessage(bytes, start, at);
      else if (kind === PING) this.write(PONG, bytes.subarray(start, at));
      else if (kind === CLOSE) this.fail(new Error(`closed ${size >= 2 ? bytes.readUInt16BE(start) : ''}`));
      else if (kind === CONTINUATION) this.fail(new Error('fragmented'));
    }
    if (at < bytes.length) this.rest = at ? bytes.subarray(at) : bytes;
  }

  // The masking key is zero: masking stays, as RFC 6455 asks of clients, and costs the load nothing.
  write(kind, payload) {
    const size = payload.length, head = size < 126 ? 6 : 8, frame = Buffer.alloc(head + size);
    frame[0] = 128 | kind;
    if (size < 126) frame[1] = 128 | size; else { frame[1] = 128 | 126; frame.writeUInt16BE(size, 2); }
    if (typeof payload === 'string') frame.latin1Write(payload, head); else payload.copy(frame, head);
    this.tcp.write(frame);
  }

  send(text) { if (!this.closing) this.write(BINARY, text); }
  close() { this.closing = true; this.tcp.destroy(); }
}

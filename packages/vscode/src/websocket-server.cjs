'use strict';
const { createHash } = require('node:crypto');
const { createServer } = require('node:net');

const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MAX_HEAD_BYTES = 16 * 1024;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const OPCODES = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 };

/**
 * Starts a WebSocket server on this machine. `accept` gets the headers of a handshake, in lower case; `onConnection` a
 * connection with `send(text)` and `close()`, and returns the listeners `onText` and `onClose` for it.
 */
async function startWebSocketServer({ accept, onConnection }) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    readHandshake(socket, accept, onConnection);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  return {
    port: server.address().port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function readHandshake(socket, accept, onConnection) {
  let head = Buffer.alloc(0);
  const onData = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) {
      if (head.length > MAX_HEAD_BYTES) socket.destroy();
      return;
    }
    socket.off('data', onData);
    const headers = parseHeaders(head.subarray(0, end).toString('latin1'));
    const key = headers.get('sec-websocket-key');
    if (key === undefined || headers.get('upgrade')?.toLowerCase() !== 'websocket' || !accept(headers)) {
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const answer = createHash('sha1').update(`${key}${HANDSHAKE_GUID}`).digest('base64');
    const protocol = headers.get('sec-websocket-protocol')?.split(',')[0]?.trim();
    const protocolLine = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n${protocolLine}\r\n`,
    );
    readFrames(socket, head.subarray(end + 4), onConnection);
  };
  socket.on('data', onData);
}

function parseHeaders(head) {
  const lines = head.split('\r\n').slice(1);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

function readFrames(socket, first, onConnection) {
  const listeners = onConnection({
    send: (text) => void (socket.writable && socket.write(encodeFrame(OPCODES.text, Buffer.from(text)))),
    close: () => socket.end(encodeFrame(OPCODES.close, Buffer.alloc(0))),
  });
  let rest = Buffer.alloc(0);
  let message = [];
  const handleFrame = ({ opcode, isLast, payload }) => {
    if (opcode === OPCODES.close) return void socket.end(encodeFrame(OPCODES.close, payload));
    if (opcode === OPCODES.ping) return void socket.write(encodeFrame(OPCODES.pong, payload));
    if (opcode !== OPCODES.text && opcode !== OPCODES.continuation) return;
    message.push(payload);
    if (message.reduce((sum, { length }) => sum + length, 0) > MAX_MESSAGE_BYTES) return void socket.destroy();
    if (!isLast) return;
    const text = Buffer.concat(message).toString('utf8');
    message = [];
    listeners.onText(text);
  };
  const take = (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = decodeFrame(rest); frame !== undefined; frame = decodeFrame(rest)) {
      if (frame === 'invalid') return void socket.destroy();
      rest = rest.subarray(frame.bytes);
      handleFrame(frame);
    }
  };
  socket.on('close', listeners.onClose);
  socket.on('data', take);
  take(first);
}

/** Decodes the first frame; `undefined` if it is not complete. Frames of a client are masked. */
function decodeFrame(data) {
  if (data.length < 6) return undefined;
  const isLast = (data[0] & 0x80) !== 0;
  const opcode = data[0] & 0x0f;
  if ((data[1] & 0x80) === 0) return 'invalid';
  const short = data[1] & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const start = 2 + lengthBytes + 4;
  if (data.length < start) return undefined;
  const length = lengthBytes === 8 ? Number(data.readBigUInt64BE(2)) : lengthBytes === 2 ? data.readUInt16BE(2) : short;
  if (length > MAX_MESSAGE_BYTES) return 'invalid';
  if (data.length < start + length) return undefined;
  const mask = data.subarray(start - 4, start);
  const payload = Buffer.from(data.subarray(start, start + length));
  for (let index = 0; index < length; index += 1) payload[index] ^= mask[index % 4];
  return { opcode, isLast, payload, bytes: start + length };
}

function encodeFrame(opcode, payload) {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

module.exports = { startWebSocketServer };

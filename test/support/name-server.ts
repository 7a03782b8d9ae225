/** A name server on 127.0.0.1 that answers every question about TXT records as a test tells it. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A text under the asked name, trouble of its own (SERVFAIL), or silence. */
type DnsAnswer = { readonly text: string } | 'servfail' | 'silence';

/** A running name server; change `answer` at will. */
export interface NameServer {
  /** As HOST_RESOLVERS takes it. */
  readonly place: string;
  answer: DnsAnswer;
  readonly asked: number;
  stop(): void;
}

/** Starts one that is in trouble until told otherwise. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const own = { answer: 'servfail' as DnsAnswer, asked: 0, place: '', stop: () => void socket.close() };
  socket.on('message', (question, from) => {
    own.asked += 1;
    if (own.answer !== 'silence') socket.send(replyTo(question, own.answer), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  own.place = `127.0.0.1:${socket.address().port}`;
  return own;
}

/** RFC 1035 §4: header, question, and one TXT record that points back at the asked name. */
function replyTo(question: Buffer, answer: Exclude<DnsAnswer, 'silence'>): Buffer {
  const asked = question.subarray(12, question.indexOf(0, 12) + 5);
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(answer === 'servfail' ? 0x8182 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answer === 'servfail' ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  if (answer === 'servfail') return Buffer.concat([header, asked]);
  const text = Buffer.from(answer.text);
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, text.length + 1, text.length]);
  return Buffer.concat([header, asked, record, text]);
}

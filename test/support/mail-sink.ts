/** A mail server on 127.0.0.1 that keeps what it is handed. */
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';

/** A running sink. */
export interface MailSink {
  readonly url: string;
  /** Headers and text of each e-mail, as sent. */
  readonly mails: string[];
  /** Refuses e-mail from now on, or takes it again. */
  refuse(isRefusing: boolean): void;
  stop(): Promise<void>;
}

/** Starts a sink that takes everything. */
export async function startMailSink(): Promise<MailSink> {
  const mails: string[] = [];
  const sockets = new Set<Socket>();
  let isRefusing = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let buffer = '';
    let isData = false;
    const say = (line: string): unknown => socket.write(`${line}\r\n`);
    const take = (line: string): void => {
      if (/^DATA/i.test(line)) {
        isData = true;
        say('354 go on');
      } else if (/^MAIL/i.test(line) && isRefusing) say('451 not now');
      else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n');
      else say('250 ok');
    };
    say('220 sink');
    socket.on('data', (chunk: Buffer) => {
      buffer += chunk.toString('utf8');
      for (;;) {
        const end = buffer.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const text = buffer.slice(0, end);
        buffer = buffer.slice(end + (isData ? 5 : 2));
        if (!isData) take(text);
        else {
          isData = false;
          mails.push(text);
          say('250 taken');
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}?ignoreTLS=true`,
    mails,
    refuse: (next) => {
      isRefusing = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

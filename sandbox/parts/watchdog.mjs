// Ends the parts when their parent is gone, however it went (SIGKILL included): the parent holds our stdin open and tells
// us what it started. Plain JavaScript, so that it starts fast and under any Node.
//   + <pid> <signal>   a process group to end, and the signal it ends best by
//   - <pid>            that group is gone

const GRACE_MS = 10_000;
const groups = new Map();
let pending = '';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});

process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (pending + chunk).split('\n');
  pending = lines.pop() ?? '';
  for (const line of lines) {
    const [sign, pid, signal] = line.split(' ');
    if (sign === '+') groups.set(Number(pid), signal);
    if (sign === '-') groups.delete(Number(pid));
  }
});
process.stdin.on('error', endAll);
process.stdin.on('close', endAll);

let ending = false;
function endAll() {
  if (ending) return;
  ending = true;
  for (const [pid, signal] of groups) send(pid, signal);
  const deadline = Date.now() + GRACE_MS;
  const timer = setInterval(() => {
    for (const pid of groups.keys()) if (!send(pid, 0)) groups.delete(pid);
    if (Date.now() > deadline) for (const pid of groups.keys()) send(pid, 'SIGKILL');
    if (groups.size > 0 && Date.now() < deadline + 1_000) return;
    clearInterval(timer);
    process.exit(0);
  }, 100);
}

/** False when no process of the group is left. */
function send(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

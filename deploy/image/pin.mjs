/**
 * Foreign images of Dockerfile and docker-compose.yml, by digest. A tag can be moved to other bytes; a digest cannot.
 *   node deploy/image/pin.mjs list    each image, as it is named today
 *   node deploy/image/pin.mjs check   ends with 1 and names those without a digest: for production builds
 *   node deploy/image/pin.mjs write   asks each tag's registry for its digest (docker buildx, else skopeo) and writes it behind the
 *                                     tag in both files; run again, it moves the digests to what the tags mean today
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILES = ['Dockerfile', 'docker-compose.yml'].map((name) => fileURLToPath(new URL(`../../${name}`, import.meta.url)));
const NAMED = /(^ARG \w+_IMAGE=|^\s+image: )((?!content-settlement\/)\S+)$/gm;

const images = () => FILES.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(NAMED)].map(([, , image]) => image));

/** The digest a registry gives for a tag: of the list of all platforms, where there is one. Throws with what both tools said. */
function digestOf(tag) {
  const said = [];
  for (const [command, ...words] of [
    ['docker', 'buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', tag],
    ['skopeo', 'inspect', '--format', '{{.Digest}}', `docker://${tag}`],
  ]) {
    const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8', timeout: 60_000 });
    const digest = (stdout ?? '').trim();
    if (status === 0 && /^sha256:[0-9a-f]{64}$/.test(digest)) return digest;
    said.push(`${command}: ${error?.message ?? stderr.trim()}`);
  }
  throw new Error(`no digest of ${tag}\n${said.join('\n')}`);
}

function write() {
  const digests = new Map(images().map((image) => [image, `${image.split('@')[0]}@${digestOf(image.split('@')[0])}`]));
  for (const file of FILES) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replace(NAMED, (_line, before, image) => before + digests.get(image)),
    );
  }
}

const verb = process.argv[2];
try {
  if (verb === 'write') write();
  else if (verb !== 'list' && verb !== 'check') throw new Error('usage: node deploy/image/pin.mjs <list|check|write>');
  const shown = verb === 'check' ? images().filter((image) => !image.includes('@sha256:')) : images();
  if (shown.length > 0) process.stdout.write(`${shown.join('\n')}\n`);
  if (verb === 'check' && shown.length > 0) throw new Error('without a digest: run `node deploy/image/pin.mjs write` and commit');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

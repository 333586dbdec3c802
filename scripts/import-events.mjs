/**
 * Sends a file of usage events to a running service: `npm run import-events -- FILE`. Each line is one event, as `POST
 * /v1/usage-events` takes it; blank lines are skipped.
 *
 * A repeated run continues where the last run of the same file to the same URL stopped; the file may have grown. First
 * it sends the last stored lines again. If the service does not know all of them, as after a restored backup, if a sent
 * line has changed, or if the state is damaged, the run starts from the first line. Events that are stored already count
 * as duplicates. FILE.import contains the state of the last run; `--restart` ignores it. Rejected lines are written to FILE.rejected
 * with their numbers, as are lines longer than 1 MiB, which are not sent.
 *
 * API_KEY is the secret of a key with the scope `usage:write`, if the service requires one. Exit code 1 if a line was
 * rejected or the service did not answer.
 */
import { createHash } from 'node:crypto';
import {
  appendFile,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run import-events -- FILE [--url http://127.0.0.1:3000] [--lines 20000] [--restart]
API_KEY is the secret of an API key with the scope usage:write, if the service requires one.`;

const MAX_LINES = 100_000;
const MAX_PORTION_BYTES = 32 * 1_048_576;
/** Same limit as in the service. */
const MAX_LINE_BYTES = 1_048_576;
const READ_BYTES = 1_048_576;
const ANSWER_TIMEOUT_MS = 15 * 60_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000, 20_000];
/** Statuses after which a portion is sent again: the request was too slow (408), or there were too many requests (429). */
const RETRIED = new Set([408, 429]);
const { API_KEY } = process.env;
const BAR_WIDTH = 30;
const LINE_FEED = 0x0a;
const FEED = Buffer.from([LINE_FEED]);
const NOTHING = Buffer.alloc(0);

/** Thrown when the import cannot continue. The message is shown in the terminal. */
class ImportError extends Error {}

function parseOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: process.env.BASE_URL ?? 'http://127.0.0.1:3000' },
        lines: { type: 'string', default: '20000' },
        restart: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new ImportError(`${error.message}\n${USAGE}`);
  }
}

function readArguments() {
  const { values, positionals } = parseOptions();
  const lines = Number(values.lines);
  const isUsable = positionals.length === 1 && lines >= 1 && lines <= MAX_LINES;
  if (!isUsable || !Number.isInteger(lines)) throw new ImportError(USAGE);
  return {
    file: positionals[0],
    url: values.url.replace(/\/+$/, ''),
    lines,
    restart: values.restart,
  };
}

/**
 * Returns the state of the last run that sent this file to this URL, and the hash of the bytes that were sent. The
 * state contains `digest`, the digest of these bytes, because the file may have changed, and `lastStored`, the last
 * portion of which the service stored events. Returns the state of a new run if there is none or it is damaged, if nothing
 * was stored, if a sent byte has changed, or if the last sent line has become longer, so that only a part of it was sent.
 */
async function readState(path, handle, size, url) {
  const counts = { lines: 0, accepted: 0, duplicates: 0, rejected: 0 };
  const fresh = { url, digest: null, bytes: 0, ...counts, rejectedBytes: 0, lastStored: null };
  const start = { state: fresh, hash: newHash() };
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return start;
  const state = parseState(text);
  if (state === null) {
    console.error(`${path} is damaged. Sending all lines again.`);
    return start;
  }
  const goesOn =
    state.url === url &&
    state.lastStored !== null &&
    state.bytes <= size &&
    (await isBetweenLines(handle, state.bytes, size));
  if (!goesOn) return start;
  const hash = await hashOf(handle, state.bytes);
  if (state.digest !== digestOf(hash)) return start;
  const accepted = await findForgotten(state, handle);
  if (accepted === null) return { state, hash };
  // When all lines are sent again, the events that were accepted here are duplicates of themselves.
  return { ...start, state: { ...fresh, accepted, duplicates: -accepted } };
}

/** Returns null if the text is not a state: an earlier release could lose a part of it in a power failure. */
function parseState(text) {
  try {
    const state = JSON.parse(text);
    return Number.isInteger(state.bytes) ? state : null;
  } catch {
    return null;
  }
}

const newHash = () => createHash('sha256');
const digestOf = (hash) => hash.copy().digest('hex');

/** Returns a hash of the first bytes of a file. */
async function hashOf(handle, bytes) {
  const hash = newHash();
  let left = bytes;
  for await (const piece of piecesFrom(handle, 0)) {
    hash.update(piece.subarray(0, left));
    left -= Math.min(left, piece.length);
    if (left === 0) break;
  }
  return hash;
}

/**
 * Sends the last stored portion again. Returns null if the service knows all of its events. Otherwise the URL leads to
 * another installation or to one that was restored from a backup; then returns the number of events that it accepted.
 */
async function findForgotten({ url, lastStored }, handle) {
  const { value: portion } = await portionsFrom(
    handle,
    lastStored.start,
    lastStored.lines,
    newHash(),
  ).next();
  const { accepted, duplicates } = await send(url, Buffer.concat(portion.parts));
  if (accepted === 0 && duplicates === lastStored.events) return null;
  console.error(`${url} does not answer as in the last run. Sending all lines again.`);
  return accepted;
}

/**
 * Removes the rejected lines that were written after the state, because their portion is sent again. Returns the length
 * of the file, which may have been deleted.
 * @param bytes length at the time of the state; undefined: the state of a release that did not store it
 */
async function cutRejected(path, bytes) {
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  if (bytes === undefined || size <= bytes) return size;
  await truncate(path, bytes);
  return bytes;
}

async function isBetweenLines(handle, place, size) {
  if (place === 0 || place === size) return true;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, place - 1);
  return buffer[0] === LINE_FEED;
}

/** Writes the state in one step. If the run is killed or the power fails, the file contains the old state or the new one. */
async function writeState(path, state) {
  await writeFile(`${path}.new`, `${JSON.stringify(state)}\n`, { flush: true });
  await rename(`${path}.new`, path);
}

/**
 * Yields the lines of the file from a position on, in portions that fit into a request. A line that is too long is
 * replaced by a blank line, so that the other lines keep their indexes, and is not kept in memory.
 * @param hash hash of the file before the position; the bytes of each portion are added to it
 */
async function* portionsFrom(handle, start, mostLines, hash) {
  let portion = newPortion();
  let line = newLine();
  for await (const piece of piecesFrom(handle, start)) {
    let from = 0;
    for (let feed = piece.indexOf(LINE_FEED); feed !== -1; feed = piece.indexOf(LINE_FEED, from)) {
      hash.update(piece.subarray(from, feed + 1));
      addPart(line, piece.subarray(from, feed));
      addLine(portion, line, FEED);
      line = newLine();
      from = feed + 1;
      if (portion.lines === mostLines || portion.bytes > MAX_PORTION_BYTES) {
        yield portion;
        portion = newPortion();
      }
    }
    hash.update(piece.subarray(from));
    addPart(line, piece.subarray(from));
  }
  if (line.bytes > 0) addLine(portion, line, NOTHING);
  if (portion.lines > 0) yield portion;
}

async function* piecesFrom(handle, start) {
  for (let place = start; ;) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, place);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    place += bytesRead;
  }
}

/** `bytes`: number of bytes of the file that the portion contains. `tooLong`: indexes of the lines that are too long. */
const newPortion = () => ({ parts: [], bytes: 0, lines: 0, tooLong: [] });
const newLine = () => ({ parts: [], bytes: 0 });

function addPart(line, part) {
  line.bytes += part.length;
  if (line.bytes > MAX_LINE_BYTES) line.parts = [];
  else line.parts.push(part);
}

function addLine(portion, line, end) {
  if (line.bytes > MAX_LINE_BYTES) portion.tooLong.push(portion.lines);
  portion.parts.push(...line.parts, end);
  portion.bytes += line.bytes + end.length;
  portion.lines += 1;
}

/** Sends a portion and returns the answer. Retries for a while if the service does not answer, is busy or limits the rate. */
async function send(url, portion) {
  for (const pauseMs of [...PAUSES_MS, null]) {
    const outcome = await sendOnce(url, portion);
    if (outcome.answer !== undefined) return outcome.answer;
    if (pauseMs === null) {
      throw new ImportError(
        `No answer from ${url} (${outcome.reason}). Run the same command again to go on.`,
      );
    }
    await pause(Math.max(pauseMs, outcome.retryAfterMs ?? 0));
  }
  throw new Error('unreachable');
}

async function sendOnce(url, portion) {
  try {
    const response = await fetch(`${url}/v1/usage-events`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-ndjson',
        ...(API_KEY !== undefined && { Authorization: `Bearer ${API_KEY}` }),
      },
      body: portion,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.ok) return { answer: JSON.parse(text) };
    if (response.status >= 500 || RETRIED.has(response.status)) {
      const retryAfterMs = (Number(response.headers.get('Retry-After')) || 0) * 1_000;
      return { reason: `status ${response.status}`, retryAfterMs };
    }
    throw new ImportError(`The service answered ${response.status}: ${text}`);
  } catch (error) {
    if (error instanceof ImportError) throw error;
    return { reason: error.cause?.code ?? error.message };
  }
}

const tooLong = (index) => ({
  index,
  code: 'payload_too_large',
  message: 'is longer than 1 MiB',
});

const inWords = (number) => number.toLocaleString('en-US');

function showProgress(state, size, startedAt, startBytes) {
  const part = size === 0 ? 1 : state.bytes / size;
  const seconds = (performance.now() - startedAt) / 1_000;
  const left =
    part > 0 ? (seconds * (size - state.bytes)) / Math.max(1, state.bytes - startBytes) : 0;
  const filled = Math.round(part * BAR_WIDTH);
  const bar = `[${'='.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`;
  const line = `${bar} ${Math.floor(part * 100)} %  ${inWords(state.lines)} lines, ${Math.ceil(left)} s left`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\x1b[K`);
}

async function run() {
  const { file, url, lines, restart } = readArguments();
  const handle = await open(file).catch(() => null);
  const info = await handle?.stat();
  if (!info?.isFile()) throw new ImportError(`Cannot read ${file}.`);
  const { size } = info;
  const [statePath, rejectedPath] = [`${file}.import`, `${file}.rejected`];
  if (restart) await rm(statePath, { force: true });
  const { state, hash } = await readState(statePath, handle, size, url);
  if (state.bytes === 0) await rm(rejectedPath, { force: true });
  else {
    state.rejectedBytes = await cutRejected(rejectedPath, state.rejectedBytes);
    console.error(
      `Going on after ${inWords(state.lines)} lines, which were sent to ${url} until ${state.sentAt}; ` +
        '--restart starts from the first.',
    );
  }
  const [startedAt, startBytes] = [performance.now(), state.bytes];
  for await (const portion of portionsFrom(handle, state.bytes, lines, hash)) {
    const answer = await send(url, Buffer.concat(portion.parts));
    const refused = [...answer.rejected, ...portion.tooLong.map(tooLong)]
      .sort((a, b) => a.index - b.index)
      .map(
        ({ index, code, message }) =>
          `${JSON.stringify({ line: state.lines + index + 1, code, message })}\n`,
      );
    const report = Buffer.from(refused.join(''));
    if (report.length > 0) await appendFile(rejectedPath, report, { flush: true });
    const events = answer.accepted + answer.duplicates;
    if (events > 0) state.lastStored = { start: state.bytes, lines: portion.lines, events };
    state.sentAt = new Date().toISOString();
    state.digest = digestOf(hash);
    state.bytes += portion.bytes;
    state.lines += portion.lines;
    state.accepted += answer.accepted;
    state.duplicates += answer.duplicates;
    state.rejected += refused.length;
    state.rejectedBytes += report.length;
    await writeState(statePath, state);
    showProgress(state, size, startedAt, startBytes);
  }
  await handle.close();
  if (process.stderr.isTTY) process.stderr.write('\n');
  const seconds = (performance.now() - startedAt) / 1_000;
  const isOld = startBytes > 0 && state.bytes === startBytes;
  console.log(
    `${isOld ? 'No new lines. Earlier runs: ' : ''}${inWords(state.lines)} lines: ` +
      `${inWords(state.accepted)} accepted, ${inWords(state.duplicates)} duplicates, ` +
      `${inWords(state.rejected)} rejected${state.rejected > 0 ? ` (${rejectedPath})` : ''}, ${seconds.toFixed(1)} s`,
  );
  if (state.rejected > 0) process.exitCode = 1;
}

run().catch((error) => {
  console.error(error instanceof ImportError ? error.message : error);
  process.exit(1);
});

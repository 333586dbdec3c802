import { malformedRequest, type ProblemError } from '../errors';

/** Bodies of fewer bytes are not checked, because their values cannot take much memory. */
const CHECKED_FROM_BYTES = 65_536;

/** Maximum nesting of JSON values: deeper than any valid body. */
const MAX_DEPTH = 64;

/** Maximum number of objects and lists in a body: enough for 1,000 usage events with 500 objects and lists each. */
const MAX_CONTAINERS = 500_000;
const MAX_KEYS = 1_000_000;

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON text that is nested very deep, or has very many lists, objects or keys. Parsing such text would take
 * seconds, and memory of many times its size. This check reads each byte once.
 */
export function assertBoundedJson(text: Buffer): void {
  if (text.length < CHECKED_FROM_BYTES) return;
  let depth = 0;
  let containers = 0;
  let keys = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (isInText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInText = false;
    } else if (byte === QUOTE) isInText = true;
    else if (byte === COLON) keys += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (OPENING.has(byte)) {
      depth += 1;
      containers += 1;
      if (depth > MAX_DEPTH || containers > MAX_CONTAINERS) throw unbounded();
    }
  }
  if (keys > MAX_KEYS) throw unbounded();
}

function unbounded(): ProblemError {
  return malformedRequest('The body is nested too deep, or holds too many objects, lists or keys.');
}

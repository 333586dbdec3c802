import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from './command-line';
import { printableText } from './core/text';

/** Maximum length of the standard input: longer than every line that a command asks for. */
const MAX_INPUT_LENGTH = 10_000;

/**
 * Asks for a line on the terminal, and returns it.
 * @param isSecret true if the line must not be shown while it is typed
 * @throws {UsageError} if the standard input is not a terminal, or ends before a line was entered
 */
export function prompt(question: string, isSecret = false): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new UsageError(
      `${question.replace(/: $/, '')} cannot be asked for without a terminal. Give it as an option; for the password use --password-stdin.`,
    );
  }
  process.stderr.write(question);
  const output = isSecret
    ? new Writable({ write: (_chunk, _encoding, done) => done() })
    : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('close', () => {
      if (isSecret) process.stderr.write('\n');
      reject(new UsageError('Nothing was entered.'));
    });
  });
}

export function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/**
 * Prints the cells as one line, two spaces apart. Cleans each cell: its text cannot control the terminal, and cannot
 * look like another line or cell.
 */
export function printRow(...cells: readonly string[]): void {
  print(cells.map(printableText).join('  '));
}

/**
 * Returns the first line of the standard input.
 * @throws {UsageError} when the standard input is too long
 */
export async function readStandardInput(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_INPUT_LENGTH) throw new UsageError('The standard input is too long.');
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}

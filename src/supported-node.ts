/**
 * Stops the process with a message if Node is too old. Import this file before all others. This file imports nothing,
 * because the packages of the service fail to load on older versions, with a stack trace instead of a reason.
 */

/** Returns an error message for a version of Node that cannot `require` ES modules, else null. */
export function nodeVersionProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 23;
  return isSupported
    ? null
    : `This is Node ${version}, but the billing engine needs Node 20.19 or newer, or 22.12 or newer of Node 22.`;
}

const problem = nodeVersionProblem(process.versions.node);
if (problem !== null) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

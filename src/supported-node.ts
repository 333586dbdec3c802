/**
 * Ends the process with a sentence where Node is too old. Imported before everything else and importing nothing itself:
 * older versions fail to load the packages of the service, with a stack instead of a reason.
 */

/** Why the service does not run on a version of Node; null: it does. It needs `require` of ES modules. */
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

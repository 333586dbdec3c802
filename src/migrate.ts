import './supported-node';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from './command-line';

const USAGE = `npm run migrate
  Migrates the database of DATABASE_URL, and checks that the keys and fonts of the settings can be used.`;

// `runCommand` migrates the database before it runs a command. This command has no further work.
runCommand({
  usage: USAGE,
  readArguments: () => {
    try {
      parseArgs();
    } catch (error) {
      throw new UsageError(`${error instanceof Error ? error.message : ''}\n${USAGE}`);
    }
  },
  run: () => Promise.resolve(),
});

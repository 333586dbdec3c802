import './supported-node';
import { parseArguments, runCommand } from './command-line';

const USAGE = `npm run migrate
  Migrates the database of DATABASE_URL, and checks that the keys and fonts of the settings can be used.`;

// `runCommand` migrates the database before it runs a command. This command has no further work.
runCommand({
  usage: USAGE,
  readArguments: () => parseArguments(`\n${USAGE}`),
  isDated: () => false,
  run: () => Promise.resolve(),
});

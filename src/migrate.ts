import './supported-node';
import { runCommand } from './command-line';

// `runCommand` migrates the database before it runs the work of a command. This command has no further work.
runCommand(() => Promise.resolve());

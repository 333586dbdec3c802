import './supported-node';
import { runCommand } from './command-line';

// Every command migrates the database before its work; this one has no other.
runCommand(() => Promise.resolve());

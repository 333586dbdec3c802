export { EmbeddedPostgresError } from './embedded-postgres-error';
export { startEphemeralPostgres } from './ephemeral';
export { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedServer } from './start';

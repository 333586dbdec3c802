export { EmbeddedPostgresError } from './embedded-postgres-error';
export { startEphemeralPostgres, type EphemeralOptions } from './ephemeral';
export { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedServer } from './start';

import { totalmem } from 'node:os';

const MIB = 1024 * 1024;
const LEAST_MIB = 128;
const MAX_MIB = 2_048;
/** PostgreSQL's manual suggests a quarter of the memory for `shared_buffers`, but the service needs memory too. */
const SHARED_BUFFERS_DIVISOR = 8;

/** @param bytes memory in bytes; default: the memory of the container or the machine */
export function memorySettings(bytes = memoryBytes()): Readonly<Record<string, string>> {
  const buffersMib = Math.floor(bytes / MIB / SHARED_BUFFERS_DIVISOR);
  return {
    shared_buffers: `${Math.max(LEAST_MIB, Math.min(buffersMib, MAX_MIB))}MB`,
    effective_cache_size: `${Math.max(LEAST_MIB, Math.floor(bytes / MIB / 2))}MB`,
  };
}

/**
 * Returns the memory limit of the container; if there is none, the memory of the machine. Node reports a missing limit
 * as 0, or as more memory than the machine has.
 */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

import { totalmem } from 'node:os';

const MIB = 1024 * 1024;
const LEAST_MIB = 128;
const MAX_MIB = 2_048;
/**
 * One eighth of the memory is for `shared_buffers`. PostgreSQL's manual suggests a quarter, but the service needs memory
 * too.
 */
const SHARED_BUFFERS_DIVISOR = 8;

/**
 * Returns settings that fit the memory of the machine, or of the container.
 * @param bytes memory in bytes; by default that of the machine or the container
 */
export function memorySettings(bytes = memoryBytes()): Readonly<Record<string, string>> {
  const buffersMib = Math.floor(bytes / MIB / SHARED_BUFFERS_DIVISOR);
  return {
    shared_buffers: `${Math.max(LEAST_MIB, Math.min(buffersMib, MAX_MIB))}MB`,
    effective_cache_size: `${Math.max(LEAST_MIB, Math.floor(bytes / MIB / 2))}MB`,
  };
}

/**
 * Returns the memory of the container or the machine. If a container has no limit, Node reports either 0 or more memory
 * than the machine has.
 */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

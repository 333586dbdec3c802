export { isTerminal, mayBecome } from './transitions';
export type { Transitions } from './transitions';

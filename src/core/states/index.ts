export { isTerminal, mayBecome, reachableFrom } from './transitions';
export type { Transitions } from './transitions';

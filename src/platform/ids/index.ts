export { firstIdAt, idOfBytes, isId, wasCreatedBefore, newId } from './ids';
export type { IdPrefix } from './ids';

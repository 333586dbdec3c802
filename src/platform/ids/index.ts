export { firstIdAt, idOfBytes, idPattern, isId, wasCreatedBefore, newId } from './ids';
export type { IdPrefix } from './ids';

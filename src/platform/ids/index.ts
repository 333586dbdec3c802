export { firstIdAt, idOfBytes, isId, isIdBefore, newId } from './ids';
export type { IdPrefix } from './ids';

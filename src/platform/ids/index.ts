export { firstIdAt, idOfBytes, isId, newId } from './ids';
export type { IdPrefix } from './ids';

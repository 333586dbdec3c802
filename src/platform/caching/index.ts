export { BoundedMap } from './bounded-map';

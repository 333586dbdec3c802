export { aggregate, heldAtEnd, type Aggregation, type MeteredEvent } from './aggregate';

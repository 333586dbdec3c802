export { searchedParts } from './searched-parts';

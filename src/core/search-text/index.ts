export { searchPatterns } from './search-patterns';

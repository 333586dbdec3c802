export { createLogger, NestLogger } from './logger';
export { requestLog } from './request-log';
export { showSourcePositions } from './source-positions';

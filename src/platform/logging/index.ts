export { createLogger, NestLogger } from './logger';
export { requestLog } from './request-log';

export { ReconciliationsModule } from './reconciliations.module';

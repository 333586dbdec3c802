export { StudioModule } from './studio.module';

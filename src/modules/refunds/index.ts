export { RefundsModule } from './refunds.module';
export { SandboxRefundsModule } from './sandbox-refunds.module';

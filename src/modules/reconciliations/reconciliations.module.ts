import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger';
import { PaymentsModule } from '../payments';
import { RefundsModule } from '../refunds';
import { BookedMovementsService } from './booked-movements.service';
import { DifferencesRepository } from './differences.repository';
import { DueReconciliations } from './due-reconciliations';
import { ListedMovementsRepository } from './listed-movements.repository';
import { ReconciliationSteps } from './reconciliation-steps';
import { ReconciliationsController } from './reconciliations.controller';
import { ReconciliationsRepository } from './reconciliations.repository';
import { ReconciliationsService } from './reconciliations.service';
import { RunReconciliationsService } from './run-reconciliations.service';

@Module({
  imports: [LedgerModule, PaymentsModule, RefundsModule],
  controllers: [ReconciliationsController],
  providers: [
    BookedMovementsService,
    DifferencesRepository,
    DueReconciliations,
    ListedMovementsRepository,
    ReconciliationsRepository,
    ReconciliationsService,
    ReconciliationSteps,
    RunReconciliationsService,
  ],
})
export class ReconciliationsModule {}

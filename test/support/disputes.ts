import type { ReportedDispute } from '../../src/modules/payments/domain/reported-dispute';
import { DisputesService } from '../../src/modules/payments/disputes/disputes.service';
import { PaymentsRepository } from '../../src/modules/payments/payments.repository';
import type { TestApp } from './test-app';

/** Records a dispute as if a provider had reported it, because the providers of the tests report no disputes. */
export async function recordDispute(
  { app }: TestApp,
  paymentId: string,
  reported: ReportedDispute,
): Promise<void> {
  const disputes = app.get(DisputesService);
  const payment = await app.get(PaymentsRepository).find(paymentId);
  if (payment === null) throw new Error(`There is no payment ${paymentId}.`);
  let isCurrent = false;
  // A provider is asked again after a change. It then reports the same.
  for (let reports = 0; reports < 2 && !isCurrent; reports += 1) {
    const version = await disputes.versionOf(payment.provider, reported.providerReference);
    isCurrent = await disputes.record(paymentId, reported, version);
  }
  expect(isCurrent).toBe(true);
}

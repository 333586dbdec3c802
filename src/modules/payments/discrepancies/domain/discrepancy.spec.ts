import type { ProviderOutcome } from '../../domain/payment-provider';
import { discrepancyOf, isApplicable, type Discrepancy } from './discrepancy';

const about = (status: string, providerReference: string | null = null) => ({
  paymentId: 'pay_01h455vb4pex5vsknk084sn02q',
  refundId: null,
  status,
  providerReference,
});
const succeeded: ProviderOutcome = { kind: 'succeeded', reference: 'ch_1' };
const failed: ProviderOutcome = { kind: 'failed', failureCode: 'card_declined', retry: 'soft' };

describe('a report of a provider', () => {
  it.each([
    ['failed', succeeded, { reportedStatus: 'succeeded', providerReference: 'ch_1' }],
    ['canceled', succeeded, { reportedStatus: 'succeeded', failureCode: null }],
    ['succeeded', failed, { reportedStatus: 'failed', failureCode: 'card_declined' }],
  ] as const)('after %s contradicts it', (status, outcome, report) => {
    expect(discrepancyOf(about(status), outcome)).toMatchObject({
      recordedStatus: status,
      ...report,
    });
  });

  it('of a success under another reference contradicts a success', () => {
    expect(discrepancyOf(about('succeeded', 'ch_2'), succeeded)).toMatchObject({
      recordedStatus: 'succeeded',
      reportedStatus: 'succeeded',
      providerReference: 'ch_1',
    });
  });

  it.each([
    ['pending', succeeded],
    ['processing', failed],
    ['succeeded', succeeded],
    ['failed', failed],
    ['canceled', failed],
    ['failed', { kind: 'unknown' }],
    ['succeeded', { kind: 'pending', reference: 'ch_1' }],
  ] as const)('after %s may agree with it', (status, outcome) => {
    expect(discrepancyOf(about(status, 'ch_1'), outcome)).toBeNull();
  });

  it.each([
    ['failed', 'succeeded', true],
    ['canceled', 'succeeded', true],
    ['succeeded', 'failed', false],
    ['succeeded', 'succeeded', false],
  ] as const)('after %s, then %s: can be applied is %s', (recordedStatus, reportedStatus, can) => {
    expect(isApplicable({ recordedStatus, reportedStatus } as Discrepancy)).toBe(can);
  });
});

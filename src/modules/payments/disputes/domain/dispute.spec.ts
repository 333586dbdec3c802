import type { ReportedDispute } from '../../domain/reported-dispute';
import { type Dispute, newDispute, withReport } from './dispute';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const opened: ReportedDispute = {
  providerReference: 'dp_1',
  status: 'open',
  reason: 'fraudulent',
  amount: 1_000n,
  amountWithdrawn: 1_000n,
  amountReinstated: 0n,
  isRefundable: false,
  evidenceDueAt: NOW,
};
const inquiry: ReportedDispute = {
  ...opened,
  status: 'inquiry',
  amountWithdrawn: 0n,
  isRefundable: true,
};
const created = newDispute(
  { id: 'dsp_1', customerId: 'cus_1', paymentId: 'pay_1', provider: 'stripe', currency: 'USD' },
  opened,
  NOW,
);
const NO_MONEY = { withdrawnMinor: 0n, reinstatedMinor: 0n, recoveredMinor: 0n, lostMinor: 0n };

/** Applies reports in turn. */
function after(...reports: readonly ReportedDispute[]): Dispute {
  return reports.reduce<Dispute>(
    (dispute, report) => withReport(dispute, report, NOW).after,
    created,
  );
}

describe('a report about a dispute', () => {
  const lost: ReportedDispute = { ...opened, status: 'lost' };
  const won: ReportedDispute = { ...opened, status: 'won', amountReinstated: 1_000n };

  it.each([
    ['an inquiry moves no money', created, inquiry, {}],
    ['a chargeback withdraws it', created, opened, { withdrawnMinor: 1_000n }],
    ['so does an inquiry that becomes one', after(inquiry), opened, { withdrawnMinor: 1_000n }],
    ['a repetition moves none', after(opened), opened, {}],
    ['a loss', after(opened), lost, { lostMinor: 1_000n }],
    ['a loss, once', after(opened, lost), lost, {}],
    ['a win', after(opened), won, { reinstatedMinor: 1_000n }],
    ['a win without its funds', after(opened), { ...won, amountReinstated: 0n }, {}],
    [
      'funds that come back after a loss',
      after(opened, lost),
      won,
      { reinstatedMinor: 1_000n, recoveredMinor: 1_000n },
    ],
    [
      'a loss that is the first report',
      created,
      lost,
      { withdrawnMinor: 1_000n, lostMinor: 1_000n },
    ],
    [
      'a loss before its funds are withdrawn',
      after({ ...lost, amountWithdrawn: 0n }),
      lost,
      { withdrawnMinor: 1_000n, lostMinor: 1_000n },
    ],
    [
      'a loss of a part',
      after(opened),
      { ...lost, amountReinstated: 300n },
      { reinstatedMinor: 300n, lostMinor: 700n },
    ],
    [
      'a win of a part',
      after(opened),
      { ...won, amountReinstated: 400n },
      { reinstatedMinor: 400n, lostMinor: 600n },
    ],
    [
      'an end without a decision that keeps the funds',
      created,
      { ...opened, status: 'closed' },
      { withdrawnMinor: 1_000n, lostMinor: 1_000n },
    ],
    [
      'more funds that come back after a loss',
      after(opened, lost, { ...lost, amountReinstated: 100n }),
      won,
      { reinstatedMinor: 900n, recoveredMinor: 900n },
    ],
    [
      'more funds that come back after a win of a part',
      after(opened, { ...won, amountReinstated: 400n }),
      { ...won, amountReinstated: 700n },
      { reinstatedMinor: 300n, recoveredMinor: 300n },
    ],
    [
      'a loss after funds that came back in parts',
      after(opened, { ...opened, amountReinstated: 100n }, { ...opened, amountReinstated: 300n }),
      { ...lost, amountReinstated: 400n },
      { reinstatedMinor: 100n, lostMinor: 600n },
    ],
    [
      'more funds than were withdrawn',
      after(opened, { ...lost, amountReinstated: 400n }),
      { ...won, amountReinstated: 1_500n },
      { reinstatedMinor: 600n, recoveredMinor: 600n },
    ],
    [
      'less funds than came back before',
      after(opened, { ...won, amountReinstated: 400n }),
      { ...won, amountReinstated: 100n },
      {},
    ],
    ['other funds than were withdrawn', after(opened), { ...opened, amountWithdrawn: 2_000n }, {}],
  ] as const)('%s', (_, before, report, money) => {
    expect(withReport(before, report, NOW).money).toEqual({ ...NO_MONEY, ...money });
  });

  it('that is repeated changes nothing', () => {
    const dispute = after(opened);
    expect(withReport(dispute, opened, NOW).after).toBe(dispute);
  });

  it('of an appeal keeps the loss until funds come back', () => {
    expect(after(opened, lost, opened)).toMatchObject({ status: 'open', amountLost: 1_000n });
    expect(after(opened, lost, opened, won)).toMatchObject({ status: 'won', amountLost: 0n });
    expect(after(opened, lost, opened, lost)).toMatchObject({ status: 'lost', amountLost: 1_000n });
  });
});

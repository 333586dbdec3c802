import fc from 'fast-check';
import { shareLosses, type UsedOfPayment } from './share-losses';

type Amounts = Readonly<Record<string, bigint>>;

const use = (sourceId: string, invoiceId: string, amountMinor: bigint): UsedOfPayment => ({
  sourceId,
  invoiceId,
  amountMinor,
});

const shared = (uses: readonly UsedOfPayment[], losses: Amounts, left: Amounts): Amounts =>
  Object.fromEntries(
    shareLosses(
      uses,
      (id) => losses[id] ?? 0n,
      (id) => left[id] ?? 0n,
    ),
  );

describe('losses of used credit', () => {
  it.each([
    [
      'are borne by the oldest invoice first',
      [use('A', 'X', 500n), use('A', 'Y', 500n)],
      { A: 700n },
      { X: 500n, Y: 500n },
      { X: 500n, Y: 200n },
    ],
    [
      'pass an invoice that has nothing left, or gave back too much',
      [use('A', 'X', 500n), use('A', 'Y', 500n)],
      { A: 500n },
      { X: -1n, Y: 300n },
      { Y: 300n },
    ],
    [
      'move to another invoice of the same payment if that makes room',
      [use('A', 'X', 500n), use('A', 'Y', 500n), use('B', 'X', 500n)],
      { A: 500n, B: 500n },
      { X: 500n, Y: 500n },
      { X: 500n, Y: 500n },
    ],
    [
      'move over several invoices',
      [
        use('A', 'X', 100n),
        use('A', 'Y', 100n),
        use('B', 'Y', 100n),
        use('B', 'Z', 100n),
        use('C', 'X', 100n),
      ],
      { A: 100n, B: 100n, C: 100n },
      { X: 100n, Y: 100n, Z: 100n },
      { X: 100n, Y: 100n, Z: 100n },
    ],
    ['are not borne twice', [use('A', 'X', 500n)], { A: 900n }, { X: 800n }, { X: 500n }],
    ['need no invoice if nothing is lost', [use('A', 'X', 500n)], {}, { X: 500n }, {}],
  ])('%s', (_, uses, losses, left, expected) => {
    expect(shared(uses, losses, left)).toEqual(expected);
  });

  it('are divided among 2,000 invoices within the time limit if half of them have nothing left', () => {
    const ids = Array.from({ length: 2_000 }, (_, index) => `inv_${index}`);
    const open = new Set(ids.slice(1_000));
    const borne = shareLosses(
      ids.map((id) => use('A', id, 100n)),
      () => 100_000n,
      (id) => (open.has(id) ? 100n : 0n),
    );
    expect([...borne]).toEqual([...open].map((id) => [id, 100n]));
  });

  it('of one payment pass 400 invoices that those of two others fill, without a search of each', () => {
    const before = process.cpuUsage();
    const ids = Array.from({ length: 800 }, (_, index) => `inv_${index}`);
    const borne = shareLosses(
      ids.flatMap((id, index) => {
        const uses = [use('C', id, 100n)];
        return index < 400 ? [use('A', id, 50n), use('B', id, 50n), ...uses] : uses;
      }),
      (id) => (id === 'C' ? 40_000n : 20_000n),
      () => 100n,
    );
    expect([...borne]).toEqual(ids.map((id) => [id, 100n]));
    // Takes 2 s. With a search of each invoice, it takes 40 s.
    expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(15);
  });

  it('are borne as far as any division can', () => {
    const payments = ['A', 'B', 'C'];
    const invoices = ['X', 'Y', 'Z'];
    const amount = fc.bigInt({ min: 0n, max: 4n });
    const amounts = (keys: readonly string[]) =>
      fc.record(Object.fromEntries(keys.map((key) => [key, amount])));
    const uses = fc.tuple(
      ...payments.flatMap((payment) =>
        invoices.map((invoice) => amount.map((minor) => use(payment, invoice, minor))),
      ),
    );
    fc.assert(
      fc.property(uses, amounts(payments), amounts(invoices), (used, losses, left) => {
        const borne = Object.values(shared(used, losses, left)).reduce((sum, one) => sum + one, 0n);
        expect(borne).toBe(largestShare(used, losses, left));
      }),
    );
  });
});

/**
 * Returns the largest sum that invoices can bear: a minimum cut. For each set of payments, all losses outside the set are
 * borne at most, and of the set what each invoice can bear of it.
 */
function largestShare(uses: readonly UsedOfPayment[], losses: Amounts, left: Amounts): bigint {
  const payments = Object.keys(losses);
  const sets = payments.reduce<readonly (readonly string[])[]>(
    (all, payment) => [...all, ...all.map((set) => [...set, payment])],
    [[]],
  );
  const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
  const cuts = sets.map((set) => {
    const outside = payments.filter((id) => !set.includes(id));
    const ofSet = Object.entries(left).map(([invoice, most]) => {
      const used = uses.filter((one) => one.invoiceId === invoice && set.includes(one.sourceId));
      return least(
        most,
        used.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      );
    });
    const ofOutside = outside.map((id) => losses[id] ?? 0n);
    return [...ofOutside, ...ofSet].reduce((sum, one) => sum + one, 0n);
  });
  return cuts.reduce(least);
}

import fc from 'fast-check';
import { datesBetween, secondsBetween } from '../support/reference/calendar';
import { fromDecimal } from '../support/reference/money';
import { SEED } from '../support/seed';
import { startTestApp, Story, type TestApp, verifyWholeLedger } from '../support/story';

/**
 * For any sequence of changes within a period, charges less credits equal the sum over the parts of the period of the
 * price valid then, prorated: within half a minor unit per line, because each is rounded, and exactly where no line is
 * rounded. The short form runs 15 sequences that are rounded and 5 that are not, `CAMPAIGN=full` 400 and 134. `SEED`
 * repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const SEQUENCES = FULL ? 400 : 15;
const TIME_LIMIT_MS = FULL ? 1_800_000 : 180_000;
const START = '2026-03-01T05:00:00.000Z';
const END = '2026-04-01T04:00:00.000Z';
/** Summer time starts within the period: it is an hour short of 31 days. */
const ZONE = 'America/New_York';
const SECONDS = secondsBetween(Date.parse(START), Date.parse(END));

interface Part {
  /** Unit amount of the new price. */
  readonly unitAmount: string;
  readonly quantity: number;
  /** Unit of the new version, which counts the change. */
  readonly unit: Unit;
  readonly at: number;
}

type Unit = 'day' | 'second';

const partsOf = (unitAmount: fc.Arbitrary<string>, unit: fc.Arbitrary<Unit>) =>
  fc
    .array(
      fc.record({
        unitAmount,
        unit,
        quantity: fc.integer({ min: 1, max: 9 }),
        at: fc
          .integer({ min: Date.parse(START) / 1_000, max: Date.parse(END) / 1_000 - 1 })
          .map((seconds) => seconds * 1_000),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => parts.sort((one, other) => one.at - other.at));

describe.each([
  ['day', 'in_advance'],
  ['second', 'in_advance'],
  ['day', 'in_arrears'],
  ['second', 'in_arrears'],
  ['day or second', 'in_advance'],
  ['day or second', 'in_arrears'],
] as const)('changes within a period, counted by the %s and billed %s', (units, timing) => {
  let engine: TestApp;
  const isMixed = units === 'day or second';
  const unit = isMixed ? fc.constantFrom('day', 'second') : fc.constant(units);
  /**
   * In ten-thousandths. A credit that rounds to 0 is not billed, and the next change can count it by day. With mixed
   * units, prices are so high that the credit of one second is not 0.
   */
  const smallest = isMixed ? SECONDS * 10_000n : 0n;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function bill(parts: readonly Part[]): Promise<{ total: bigint; lines: bigint }> {
    const story = await Story.begin(engine, START, { timezone: ZONE });
    const planOf = async ({ unitAmount, unit: proration }: Part): Promise<string> => {
      const prices = [{ name: 'Seats', model: 'per_unit', timing, unit_amount: unitAmount }];
      return (await story.planOf(prices, { proration })).id;
    };
    const [first, ...others] = parts;
    if (first === undefined) throw new Error('There is a first part.');
    const { id } = await story.subscribe(await planOf(first), { quantity: String(first.quantity) });
    for (const part of others) {
      if (new Date(part.at).toISOString() > START) {
        await story.advance(new Date(part.at).toISOString());
      }
      const plan_id = await planOf(part);
      await story.command(id, 'change', { plan_id, quantity: String(part.quantity), when: 'now' });
    }
    await story.command(id, 'cancel', { when: 'period_end' });
    await story.advance(END);
    const invoices = await story.invoices();
    // The short form verifies the ledger once, for all sequences.
    await (FULL ? story.verify() : story.verifyInvoices());
    return {
      total: invoices.reduce((total, { subtotal }) => total + BigInt(subtotal), 0n),
      lines: BigInt(invoices.reduce((count, { lines }) => count + lines.length, 0)),
    };
  }

  /** Returns the exact sum as a fraction. A change by day after one by second on the same day leaves nothing between them. */
  function owed(parts: readonly Part[]): { readonly over: bigint; readonly under: bigint } {
    const whole = 31n * SECONDS;
    const passedAt = (part: Part | undefined): bigint => {
      if (part === undefined) return whole;
      return part.unit === 'day'
        ? datesBetween(Date.parse(START), part.at, ZONE) * SECONDS
        : secondsBetween(Date.parse(START), part.at) * 31n;
    };
    const over = parts.reduce((total, part, index) => {
      const price = fromDecimal(part.unitAmount);
      const from = index === 0 ? 0n : passedAt(part);
      const to = passedAt(parts[index + 1]);
      const amount = (price.over * BigInt(part.quantity) * 10_000n) / price.under;
      return total + amount * (from < to ? to - from : 0n);
    }, 0n);
    return { over, under: whole * 10_000n };
  }

  async function assertAddsUp(parts: readonly Part[], isExact: boolean): Promise<void> {
    const { total, lines } = await bill(parts);
    const { over, under } = owed(parts);
    const gap = total * under - over;
    const most = isExact ? 0n : lines * under;
    expect(2n * (gap < 0n ? -gap : gap) <= most).toBe(true);
  }

  it(
    'add up to the parts of the period, each at its price',
    async () => {
      process.stdout.write(`changes by the ${units}, ${timing}: SEED=${SEED}\n`);
      const rounded = partsOf(
        fc.bigInt({ min: smallest, max: smallest + 99_999_999n }).map((units) => {
          const digits = String(units).padStart(5, '0');
          return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
        }),
        unit,
      );
      await fc.assert(
        fc.asyncProperty(rounded, (parts) => assertAddsUp(parts, false)),
        { seed: SEED, numRuns: SEQUENCES },
      );
      const whole = units === 'day' ? 31n : units === 'second' ? SECONDS : 31n * SECONDS;
      const most = isMixed ? 3n : 99n;
      const exact = partsOf(
        fc.bigInt({ min: 1n, max: most }).map((days) => String(days * whole)),
        unit,
      );
      await fc.assert(
        fc.asyncProperty(exact, (parts) => assertAddsUp(parts, true)),
        { seed: SEED, numRuns: Math.ceil(SEQUENCES / 3) },
      );
      await verifyWholeLedger(engine);
    },
    TIME_LIMIT_MS,
  );
});

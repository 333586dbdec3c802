import fc from 'fast-check';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

const HOUR_S = 3_600;

export async function advanceTo(
  to: number,
  model: Reference,
  engine: EngineUnderTest,
): Promise<void> {
  model.advance(to);
  const path = `/v1/test-clocks/${engine.clockId}/advance`;
  const answer = await engine.post(path, { to: new Date(to).toISOString() });
  expect(answer).toMatchObject({ status: 200 });
}

/**
 * Moves the clock by a number of seconds: from now, or from the next due instant. The second kind stops just before, at
 * or just after that instant.
 */
class Advance implements BillingCommand {
  constructor(
    private readonly seconds: number,
    private readonly aim: 'by' | 'due',
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.target(model) > model.now;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    await advanceTo(this.target(model), model, engine);
  }

  private target(model: Readonly<Reference>): number {
    const from = this.aim === 'by' ? model.now : (model.nextDue() ?? model.now);
    return from + this.seconds * 1_000;
  }

  toString(): string {
    return `advance(${this.aim === 'by' ? 'by' : 'to what is due and'} ${this.seconds} s)`;
  }
}

const by = (most: number, least = 1): fc.Arbitrary<BillingCommand> =>
  fc.integer({ min: least, max: most }).map((seconds) => new Advance(seconds, 'by'));

export const advanceHours = by(12 * HOUR_S);
export const advanceDays = by(5 * 24 * HOUR_S, 24 * HOUR_S);
export const advanceMonth = by(50 * 24 * HOUR_S, 31 * 24 * HOUR_S);

export const advance = fc.oneof(
  by(12 * HOUR_S),
  by(40 * 24 * HOUR_S),
  fc.integer({ min: -1, max: 1 }).map((seconds) => new Advance(seconds, 'due')),
);

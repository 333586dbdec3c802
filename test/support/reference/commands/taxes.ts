import fc from 'fast-check';
import { type Exemption, EXEMPTIONS, TAX_RATES, TAXES } from '../catalog';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

/** Changes the tax rates or the tax treatment of the customer, or both. */
class ChangeTaxes implements BillingCommand {
  constructor(
    private readonly taxes: readonly number[] | null,
    private readonly exemption: Exemption | null,
  ) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { taxes, exemption } = this;
    const refusal = model.changeTaxes(taxes, exemption);
    const answer = await engine.patch(`/v1/customers/${engine.customerId}`, {
      ...(taxes === null ? {} : { tax_rate_ids: await engine.catalog.taxRateIds(taxes) }),
      ...(exemption === null ? {} : { tax_exempt: exemption }),
    });
    expect(answer.body).toMatchObject(
      refusal === null ? { tax_exempt: model.payer.exemption } : { code: refusal },
    );
  }

  toString(): string {
    const rates = this.taxes?.map((rate) => `${TAX_RATES[rate]?.percentage ?? ''} %`);
    return `change taxes(${rates?.join(' and ') ?? 'as they are'}, ${this.exemption ?? 'as before'})`;
  }
}

/** Archives a tax rate or makes it inactive. It can no longer be assigned. */
class ArchiveTaxRate implements BillingCommand {
  constructor(
    private readonly rate: number,
    private readonly how: 'archive' | 'deactivate',
  ) {}

  check({ oldRates }: Readonly<Reference>): boolean {
    return !oldRates.has(this.rate);
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    model.oldRates.add(this.rate);
    const path = `/v1/tax-rates/${await engine.catalog.taxRateId(this.rate)}`;
    const { status } =
      this.how === 'archive'
        ? await engine.remove(path)
        : await engine.patch(path, { is_active: false });
    expect(status).toBe(this.how === 'archive' ? 204 : 200);
  }

  toString(): string {
    return `${this.how}(${TAX_RATES[this.rate]?.percentage ?? ''} %)`;
  }
}

export const changeTaxes = fc
  .tuple(
    fc.option(fc.constantFrom(...TAXES), { freq: 3 }),
    fc.option(fc.constantFrom('none' as const, 'none' as const, ...EXEMPTIONS), { freq: 2 }),
  )
  .map((terms) => new ChangeTaxes(...terms));

export const archiveTaxRate = fc
  .tuple(fc.nat({ max: TAX_RATES.length - 1 }), fc.constantFrom('archive', 'deactivate'))
  .map((terms) => new ArchiveTaxRate(...terms));

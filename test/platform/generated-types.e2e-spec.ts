import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** A client that omits every field with a default. */
const CALLER = `
import type { components } from './api';

type Schemas = components['schemas'];

export const subscription: Schemas['CreateSubscriptionDto'] = { customer_id: 'c', plan_id: 'p' };
export const invoice: Schemas['CreateInvoiceDto'] = {
  customer_id: 'c',
  lines: [{ description: 'Set-up', amount: 1 }],
};
export const meter: Schemas['CreateMeterDto'] = {
  key: 'k',
  event_name: 'e',
  aggregation: 'count',
};
export const grant: Schemas['CreateGrantDto'] = {};
export const rate: Schemas['CreateTaxRateDto'] = { name: 'VAT', percentage: '20' };
export const admin: Schemas['CreateStudioAdminDto'] = {
  email: 'e',
  name: 'n',
  passwordHash: 'h',
};
export const cancellation: Schemas['CancelSubscriptionDto'] = { when: 'period_end' };
export const addon: Schemas['AddonInputDto'] = { addon_id: 'a' };
export const allowance: Schemas['PlanEntitlementInputDto'] = { entitlement_id: 'e' };
export const payment: Schemas['SettleInSandboxDto'] = { outcome: 'succeeded' };
export const refund: Schemas['SettleRefundInSandboxDto'] = { outcome: 'succeeded' };
`;

/** A client that omits a field without a default. */
const CARELESS_CALLER = `
import type { components } from './api';

export const subscription: components['schemas']['CreateSubscriptionDto'] = { plan_id: 'p' };
`;

describe('types that openapi-typescript generates from the OpenAPI document', () => {
  let folder: string;
  let errors: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'generated-types-'));
    const cli = join(ROOT, 'node_modules/openapi-typescript/bin/cli.js');
    const document = join(ROOT, 'openapi/openapi.json');
    // In another folder, because the generator would use the Redocly configuration of this one.
    execFileSync(process.execPath, [cli, document, '-o', 'api.ts'], { cwd: folder });
    await writeFile(join(folder, 'caller.ts'), CALLER);
    await writeFile(join(folder, 'careless-caller.ts'), CARELESS_CALLER);
    errors = compile('caller.ts', 'careless-caller.ts');
  });

  afterAll(() => rm(folder, { recursive: true }));

  /** Returns the errors of the compiler for strict programs. Both are compiled together, which takes half of the time. */
  function compile(...files: readonly string[]): readonly string[] {
    const flags = [
      '--strict',
      '--noEmit',
      '--ignoreConfig',
      '--lib',
      'es2023',
      '--pretty',
      'false',
    ];
    try {
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
      execFileSync(process.execPath, [compiler, ...flags, ...files], {
        cwd: folder,
        encoding: 'utf8',
      });
      return [];
    } catch (error) {
      return (error as { readonly stdout: string }).stdout.trim().split('\n');
    }
  }

  it('let a strict caller omit every field that has a default', () => {
    expect(errors.filter((error) => !error.startsWith('careless-caller.ts'))).toEqual([]);
  });

  it('require a field without a default', () => {
    expect(errors).toEqual([
      expect.stringMatching(/^careless-caller\.ts.*'customer_id' is missing/),
    ]);
  });
});

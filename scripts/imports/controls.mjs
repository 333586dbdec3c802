/**
 * Examples that must fail: for each rule of .dependency-cruiser.cjs, at least one small source tree that breaks only
 * this rule. `npm run imports` fails if a rule accepts its example.
 */
import { createRequire } from 'node:module';

const { LAYERS } = createRequire(import.meta.url)('./layers.cjs');

/** Returns the text of a file that exports something. `imports` are the paths that it imports. */
function file(...imports) {
  const lines = imports.map((from, index) => `import * as imported${index} from '${from}';`);
  const names = imports.map((_, index) => `imported${index}`);
  return `${lines.join('\n')}\nexport const value = [${names.join(', ')}];\n`;
}

function typeOnly(from) {
  return `import type * as imported from '${from}';\nexport type Value = typeof imported;\n`;
}

function importBetween(importer, imported) {
  return {
    [`src/modules/${importer}/index.ts`]: file(`../${imported}`),
    [`src/modules/${imported}/index.ts`]: file(),
  };
}

/**
 * For each layer, a tree in which a module imports another one of the same layer, and one in which it imports one of a
 * higher layer.
 */
const layerControls = LAYERS.flatMap((modules, depth) => {
  const rule = `layers-${modules.join('-')}`;
  const [first, second] = modules;
  const above = LAYERS[depth - 1]?.[0];
  const sideways = second === undefined ? [] : [importBetween(first, second)];
  const upwards = above === undefined ? [] : [importBetween(modules.at(-1), above)];
  return [...sideways, ...upwards].map((tree) => ({ rule, tree }));
});

export const CONTROLS = [
  ...['node:crypto', '@nestjs/common', 'typeorm', 'pg', '../../platform/clock'].map((from) => ({
    rule: 'core-is-pure',
    tree: { 'src/core/tax/tax.ts': file(from), 'src/platform/clock/index.ts': file() },
  })),
  {
    rule: 'core-is-pure',
    tree: {
      'src/core/tax/tax.ts': typeOnly('../../platform/clock'),
      'src/platform/clock/index.ts': file(),
    },
  },
  ...['node:crypto', '@nestjs/common', '../../../platform/clock', '../../catalog'].map((from) => ({
    rule: 'domain-is-pure',
    tree: {
      'src/modules/payments/domain/payment.ts': file(from),
      'src/modules/catalog/index.ts': file(),
      'src/platform/clock/index.ts': file(),
    },
  })),
  {
    rule: 'domain-is-pure',
    tree: {
      'src/modules/webhooks/delivery/domain/backoff.ts': file('../deliveries.repository'),
      'src/modules/webhooks/delivery/deliveries.repository.ts': file(),
    },
  },
  {
    rule: 'platform-knows-no-module',
    tree: {
      'src/platform/outbox/index.ts': file('../../modules/coupons'),
      'src/modules/coupons/index.ts': file(),
    },
  },
  {
    rule: 'platform-through-its-index',
    tree: {
      'src/modules/coupons/coupons.service.ts': file('../../platform/clock/clock'),
      'src/platform/clock/clock.ts': file(),
    },
  },
  {
    rule: 'modules-through-their-index',
    tree: {
      'src/modules/refunds/refunds.service.ts': file('../payments/payments.service'),
      'src/modules/payments/payments.service.ts': file(),
    },
  },
  {
    rule: 'app-through-the-index-of-modules',
    tree: {
      'src/app.module.ts': file('./modules/coupons/coupons.module'),
      'src/modules/coupons/coupons.module.ts': file(),
    },
  },
  {
    rule: 'modules-have-a-layer',
    tree: {
      'src/app.module.ts': file('./modules/somewhere'),
      'src/modules/somewhere/index.ts': file(),
    },
  },
  ...layerControls,
  {
    rule: 'dto-at-the-edge',
    tree: {
      'src/modules/coupons/coupons.service.ts': file('./dto/coupon.dto'),
      'src/modules/coupons/dto/coupon.dto.ts': file(),
    },
  },
  {
    rule: 'dto-at-the-edge',
    tree: {
      'src/modules/features/index.ts': file('./dto/entitlement.dto'),
      'src/modules/features/dto/entitlement.dto.ts': file(),
    },
  },
  {
    rule: 'dto-at-the-edge',
    tree: {
      'src/modules/webhooks/delivery/deliveries.service.ts': file('./dto/delivery.dto'),
      'src/modules/webhooks/delivery/dto/delivery.dto.ts': file(),
    },
  },
  {
    rule: 'entities-with-their-repository',
    tree: {
      'src/modules/coupons/coupons.service.ts': file('./coupon.entity'),
      'src/modules/coupons/coupon.entity.ts': file(),
    },
  },
  {
    rule: 'controllers-ask-services',
    tree: {
      'src/modules/coupons/coupons.controller.ts': file('./coupons.repository'),
      'src/modules/coupons/coupons.repository.ts': file(),
    },
  },
  {
    rule: 'services-know-no-http',
    tree: {
      'src/modules/coupons/coupons.service.ts': file('../../platform/http'),
      'src/platform/http/index.ts': file(),
    },
  },
  {
    rule: 'services-know-no-http',
    tree: { 'src/modules/coupons/coupons.service.ts': typeOnly('express') },
  },
  {
    rule: 'no-cycles',
    tree: { 'src/core/tax/a.ts': file('./b'), 'src/core/tax/b.ts': file('./a') },
  },
  {
    rule: 'no-orphans',
    tree: { 'src/core/tax/left-over.ts': file() },
  },
  {
    rule: 'src-knows-only-src',
    tree: {
      'src/configure-http.ts': file('../test/support/manual-clock'),
      'test/support/manual-clock.ts': file(),
    },
  },
  {
    rule: 'studio-knows-only-the-api',
    tree: {
      'studio/src/api/client.ts': file('../../../src/core/money'),
      'src/core/money/index.ts': file(),
    },
  },
  {
    rule: 'packages-stand-alone',
    tree: {
      'packages/embedded-postgres/index.ts': file('../../src/platform/clock'),
      'src/platform/clock/index.ts': file(),
    },
  },
  {
    rule: 'packages-through-their-index',
    tree: {
      'src/main.ts': file('../packages/embedded-postgres/start'),
      'packages/embedded-postgres/start.ts': file(),
    },
  },
  {
    rule: 'nothing-imports-a-spec',
    tree: {
      'test/e2e/a.e2e-spec.ts': file('./b.e2e-spec'),
      'test/e2e/b.e2e-spec.ts': file(),
    },
  },
  {
    rule: 'migrations-stand-alone',
    tree: {
      'migrations/1-CreateCoupons.ts': file('../src/core/tax'),
      'src/core/tax/index.ts': file(),
    },
  },
  {
    rule: 'src-uses-runtime-packages',
    tree: { 'src/configure-http.ts': file('supertest') },
  },
  {
    rule: 'imports-resolve',
    tree: { 'src/configure-http.ts': file('./nowhere') },
  },
];

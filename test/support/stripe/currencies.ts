import { invalidRequest } from './errors';

/** Smallest charge by currency, in minor units (docs.stripe.com/currencies). Other currencies have no minimum in the double. */
const MINIMUM: Readonly<Record<string, number>> = {
  aed: 200,
  aud: 50,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17500,
  inr: 50,
  jpy: 50,
  mxn: 1000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1000,
  usd: 50,
};

const OTHERS =
  'afn all amd ang aoa ars awg azn bam bbd bdt bif bmd bnd bob bsd bwp byn bzd cdf clp cny cop crc cve djf dop dzd egp etb ' +
  'fjd fkp gel gip gmd gnf gtq gyd hnl htg idr ils jmd kes kgs khr kmf krw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk ' +
  'mnt mop mur mvr mwk mzn nad ngn nio npr pab pen pgk php pkr pyg qar rsd rub rwf sar sbd scr shp sle sos srd std szl tjs ' +
  'top try ttd twd tzs uah uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw isk ugx bhd jod kwd omr tnd';

const SUPPORTED: ReadonlySet<string> = new Set([...Object.keys(MINIMUM), ...OTHERS.split(' ')]);

/** For some currencies, amounts must be a multiple of this number, because their last one or two digits must be zero. */
const MULTIPLE: Readonly<Record<string, number>> = {
  isk: 100,
  ugx: 100,
  bhd: 10,
  jod: 10,
  kwd: 10,
  omr: 10,
  tnd: 10,
};

const MAXIMUM = 99_999_999;

/** @throws Refusal (400) for a currency or an amount that Stripe does not charge. */
export function checkAmount(amount: number, currency: string): void {
  if (!SUPPORTED.has(currency.toLowerCase())) {
    throw invalidRequest(`Invalid currency: ${currency}.`, { param: 'currency' });
  }
  if (amount < 1) {
    throw invalidRequest('This value must be greater than or equal to 1.', {
      code: 'parameter_invalid_integer',
      param: 'amount',
    });
  }
  const minimum = MINIMUM[currency.toLowerCase()] ?? 1;
  if (amount < minimum) {
    throw invalidRequest(`Amount must be at least ${minimum} ${currency.toLowerCase()}`, {
      code: 'amount_too_small',
      param: 'amount',
    });
  }
  if (amount > MAXIMUM) {
    throw invalidRequest(`Amount must be no more than ${MAXIMUM} ${currency.toLowerCase()}`, {
      code: 'amount_too_large',
      param: 'amount',
    });
  }
  checkMultiple(amount, currency);
}

/** @throws Refusal (400) for an amount whose last digits Stripe requires to be zero in this currency. */
export function checkMultiple(amount: number, currency: string): void {
  const multiple = MULTIPLE[currency.toLowerCase()];
  if (multiple && amount % multiple !== 0) {
    throw invalidRequest(
      `Invalid amount: amounts in ${currency.toLowerCase()} must be divisible by ${multiple}.`,
      { code: 'invalid_charge_amount', param: 'amount' },
    );
  }
}

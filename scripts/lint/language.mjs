/**
 * The words this project does not use, and what to write instead (docs/glossary.md). `npm run language` checks names,
 * comments, sentences in string literals and Markdown against this list. It first checks with the examples in `refused`
 * that each rule can fail.
 *
 * `names` match one word of a declared name or of a file name (`UsageWatchers` contains the word `watchers`).
 * `texts` match in prose.
 *
 * @typedef {object} LanguageRule
 * @property {string} instead what to write
 * @property {RegExp} [names]
 * @property {RegExp} [texts]
 * @property {string} refused example that the rule must refuse: a text, or a name if it has no space
 */

/** @type {readonly LanguageRule[]} */
export const WORDS = [
  {
    instead: 'hook',
    names: /^(followers?|watchers?)$/,
    texts: /\b(followers?|watchers?)\b/i,
    refused: 'InvoiceFollowers',
  },
  {
    instead: 'entitlement balance',
    names: /^(holdings?|glimpses?)$/,
    texts: /\b(glimpses?|holdings)\b/i,
    refused: 'What was found in holdings',
  },
  {
    instead: 'burn-down order, expired grant usage, plan usage',
    names: /^(burning|burnt)$/,
    texts: /\bburnt\b/i,
    refused: 'burnt',
  },
  {
    instead: 'notified, reported, refused, sent',
    names: /^told$/,
    texts: /\btold\b(?! apart)/i,
    refused: 'told',
  },
  {
    instead: 'shard, batcher or write queue; concurrency limiter',
    names: /^lanes?$/,
    texts: /\blanes?\b/i,
    refused: 'AskingLanes',
  },
  {
    instead: 'time limit or timeout',
    names: /^(patience|patient)$/,
    texts: /\b(patience|patient(ly)?)\b/i,
    refused: 'patience',
  },
  {
    instead: 'classify, result',
    names: /^(verdicts?|judges?|judged)$/,
    texts: /\b(verdicts?|judges?|judged|judging)\b/i,
    refused: 'the verdict of a delivery',
  },
  { instead: 'poller', names: /^asking$/, refused: 'AskingWork' },
  { instead: 'billing context, posting', names: /^facts$/, refused: 'BillingFacts' },
  { instead: 'seller snapshot, buyer snapshot', names: /^parties$/, refused: 'Parties' },
  {
    instead: 'revenue recognition, deferred revenue',
    texts: /\bearned times?\b/i,
    refused: 'earned times',
  },
  {
    instead: 'regenerate (an invoice)',
    names: /^(reissues?|reissued)$/,
    texts: /\b(re-?issues?|re-?issued|issued? anew)\b/i,
    refused: 'ReissueInvoiceService',
  },
  { instead: 'purge', names: /^removals?$/, texts: /\bremovals?\b/i, refused: 'TestClockRemovals' },
  {
    instead: 'layout, import rules, test suites',
    names: /^(house|walls|rings?)$/,
    texts: /\b(the house|house rules?|walls|rings?)\b/i,
    refused: 'the walls between modules',
  },
  {
    instead: 'random histories',
    names: /^lives$/,
    texts: /\b(random lives|lives of)\b/i,
    refused: 'random lives of customers',
  },
  { instead: 'boundary', names: /^borders?$/, texts: /\bborders?\b/i, refused: 'nextBorder' },
  {
    instead: 'in flight, pending',
    names: /^underway$/,
    texts: /\bunder way\b/i,
    refused: 'a payment is under way',
  },
  {
    instead: 'a plain subject',
    texts: /\b(nobody|whoever)\b/i,
    refused: 'a stream that nobody watches',
  },
  { instead: 'again, new', texts: /\banew\b/i, refused: 'begins anew' },
];

/** Beginnings that a doc comment must not have, because it must first say what the thing is or does. */
export const OPENINGS = {
  instead: 'begin with a verb or a noun phrase: "Returns ...", "Columns the access check needs."',
  pattern: /^(What|Whether|Who|Whose|Which|Where|Until|Of|Those|That|Such|As much)\b/,
  refused: 'What was found of customers.',
};

/**
 * Exceptions: names that may stay although a rule refuses them.
 * @type {readonly { readonly path: RegExp, readonly words: RegExp, readonly reason: string }[]}
 */
export const EXCEPTIONS = [
  {
    path: /^(docs\/glossary\.md|scripts\/lint\/language\.mjs)$/,
    words: /./,
    reason: 'They name the words they replace.',
  },
  {
    path: /^src\/modules\/entitlements\/(balances\.repository|balance-rows|consumption-sql)\.ts$/,
    words: /^told$/,
    reason: 'A column of the database keeps its name.',
  },
  {
    path: /./,
    words: /^(reissue_of|reissued_as|reissueInvoice|invoice_reissued)$/,
    reason: 'Published wire names do not change.',
  },
  {
    path: /^src\/modules\/invoicing\//,
    words: /^(reissueOf|reissueOfId)$/,
    reason: 'Columns of the invoice and a field of its published schema keep their names.',
  },
  {
    path: /^src\/platform\/http\/operation\.ts$/,
    words: /^removal$/,
    reason: 'It is the kind of a DELETE operation, not the purge of a test clock.',
  },
];

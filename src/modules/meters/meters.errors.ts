import { defineContradiction, defineNotFound, defineProblem } from '../../platform/errors';
import { MAX_METERS_PER_EVENT_NAME } from './domain/meter';

export const meterNotFound = defineNotFound('meter_not_found', 'a meter');

export const meterKeyTaken = defineProblem({
  code: 'meter_key_taken',
  kind: 'conflict',
  title: 'The key belongs to another meter',
  meaning: 'Keys are unique, also among archived meters. Choose another.',
  detail: (key: string) => `There already is a meter with the key ${JSON.stringify(key)}.`,
});

export const meterTermsContradict = defineContradiction({
  code: 'meter_terms_contradict',
  title: 'The terms of the meter contradict each other',
  meaning:
    'Every aggregation except `count` needs a `value_property`. Only `weighted_sum` can be recurring.',
});

export const tooManyMeters = defineProblem({
  code: 'too_many_meters',
  kind: 'rule_broken',
  title: 'The event name has the maximum number of meters',
  meaning: `Every meter of an event name counts each event in the commit that stores it, so a name has at most ${MAX_METERS_PER_EVENT_NAME} meters, archived ones included.`,
  detail: (eventName: string) =>
    `The event name ${JSON.stringify(eventName)} has ${MAX_METERS_PER_EVENT_NAME} meters already.`,
});

export const meterBackfilling = defineProblem({
  code: 'meter_backfilling',
  kind: 'conflict',
  isTemporary: true,
  title: 'The meter is still counting stored events',
  meaning:
    'Events stored before the meter are still being counted, so its totals are incomplete. Read the meter: when its `status` is `active`, repeat the request.',
  detail: (id: string) =>
    `The meter ${JSON.stringify(id)} is backfilling. Repeat the request when its status is active.`,
});

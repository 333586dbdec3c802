import { defineEvents } from '../../platform/outbox';
import { AddonDto, toAddonDto } from './dto/addon.dto';
import { PlanDto, toPlanDto } from './dto/plan.dto';

const addonEvent = defineEvents(AddonDto, toAddonDto);
const planEvent = defineEvents(PlanDto, toPlanDto);

export const addonCreated = addonEvent('addon.created', 'An add-on was created.');

export const addonUpdated = addonEvent(
  'addon.updated',
  'The name or the metadata of an add-on changed.',
);

export const addonArchived = addonEvent(
  'addon.archived',
  'An add-on was archived. The event contains its last state.',
);

export const planCreated = planEvent('plan.created', 'A plan was created, with its first version.');

export const planUpdated = planEvent('plan.updated', 'The name or the metadata of a plan changed.');

export const planVersionActivated = planEvent(
  'plan.version_activated',
  'A new version of a plan became active. Running subscriptions keep their version.',
);

export const planArchived = planEvent(
  'plan.archived',
  'A plan was archived. The event contains its last state.',
);

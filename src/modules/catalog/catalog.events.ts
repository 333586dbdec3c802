import { defineEvent } from '../../platform/outbox';
import { AddonDto, toAddonDto } from './dto/addon.dto';

export const addonCreated = defineEvent({
  type: 'addon.created',
  meaning: 'An add-on was created.',
  dto: AddonDto,
  toDto: toAddonDto,
});

export const addonUpdated = defineEvent({
  type: 'addon.updated',
  meaning: 'The name or the metadata of an add-on changed.',
  dto: AddonDto,
  toDto: toAddonDto,
});

export const addonArchived = defineEvent({
  type: 'addon.archived',
  meaning: 'An add-on was archived; the event shows it as it was last.',
  dto: AddonDto,
  toDto: toAddonDto,
});

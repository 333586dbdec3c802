import { Controller, Delete, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { IdPipe, IfMatch, Operation } from '../../platform/http';
import { entitlementInUse, entitlementNotFound } from '../features';
import { DeleteEntitlementService } from './delete-entitlement.service';

const entitlementId = new IdPipe('ent', entitlementNotFound);

@ApiTags('Entitlements')
@Controller('v1/entitlements')
export class EntitlementsController {
  constructor(private readonly deleteEntitlementService: DeleteEntitlementService) {}

  @Delete(':id')
  @Operation({
    summary: 'Delete an entitlement that is not in use',
    description: 'Refused while an add-on is linked to it: delete those links first.',
    access: 'entitlements:write',
    problems: [entitlementNotFound, entitlementInUse],
  })
  async deleteEntitlement(
    @Param('id', entitlementId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.deleteEntitlementService.delete(id, expected);
  }
}

import { Controller, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IdPipe, NoFields, Operation, withETag } from '../../platform/http';
import {
  InvoiceDto,
  invoiceNotFound,
  invoiceNotVoid,
  invoiceOvertaken,
  invoiceReissued,
  toInvoiceDto,
} from '../invoicing';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import { ReissuesService } from './reissues.service';

/** Here and not with invoices: whether it is still owed, the subscription knows. */
@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoiceReissuesController {
  constructor(private readonly reissues: ReissuesService) {}

  @Post(':id/reissue')
  @NoFields()
  @Operation({
    summary: 'Issue a void invoice anew',
    description:
      'An invoice with the same charges, and the coupons, taxes and credit of now, finalised at once; `reissue_of` names the ' +
      'void one. A void invoice is issued anew once, and not where something it billed was changed since, or ended with credit.',
    access: 'invoices:write',
    status: 201,
    answer: InvoiceDto,
    reads: 'post',
    key: 'required',
    problems: [
      invoiceNotFound,
      invoiceNotVoid,
      invoiceReissued,
      invoiceOvertaken,
      testClockAdvancing,
      testClockFailed,
    ],
  })
  async reissueInvoice(
    @Param('id', new IdPipe('inv', invoiceNotFound)) id: string,
  ): Promise<InvoiceDto> {
    return withETag(await this.reissues.reissue(id), toInvoiceDto);
  }
}

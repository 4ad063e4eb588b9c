"""People, groups, invitations and API keys in the panel."""

from accounts.admin.invitations import InvitationAdmin
from accounts.admin.keys import ApiKeyAdmin
from accounts.admin.people import OwnersGroupAdmin, PersonAdmin

__all__ = ["ApiKeyAdmin", "InvitationAdmin", "OwnersGroupAdmin", "PersonAdmin"]

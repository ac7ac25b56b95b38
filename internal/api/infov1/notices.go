package infov1

import (
	"slices"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/notice"
)

// banner answers with the newest live banner, if there is one.
func (i *Info) banner(c *api.Call) error {
	live := i.Notices.Live(notice.Banner)
	c.Out.Bool("active", len(live) > 0)
	if len(live) > 0 {
		writeNotice(c, "bannerid", &live[0])
		c.Out.Text("body", live[0].Body)
	}
	return nil
}

// popups lists the live popups after the cursor, the last one that the person saw, in the
// order in which to show them.
func (i *Info) popups(c *api.Call) error {
	seen := notice.ID(c.ID("cursor"))
	if err := c.Err(); err != nil {
		return err
	}

	live := slices.DeleteFunc(i.Notices.Live(notice.Popup), func(n notice.Notice) bool { return n.ID <= seen })
	slices.Reverse(live)
	writeNotices(c, "popups", live[:min(pageSize, len(live))], func(n *notice.Notice) {
		writeNotice(c, "popupid", n)
		c.Out.Text("body", n.Body)
	})
	return nil
}

// announcements lists the live announcements, newest first.
func (i *Info) announcements(c *api.Call) error {
	before, limit := notice.ID(c.ID("cursor")), pageSize
	if c.Has("limit") {
		limit = int(c.Int("limit", 1, pageSize))
	}
	if err := c.Err(); err != nil {
		return err
	}

	live := slices.DeleteFunc(i.Notices.Live(notice.Announcement), func(n notice.Notice) bool {
		return before != 0 && n.ID >= before
	})
	page := live[:min(limit, len(live))]
	writeNotices(c, "announcements", page, func(n *notice.Notice) {
		writeNotice(c, "annoid", n)
		c.Out.Text("excerpt", n.Excerpt())
		c.Out.Text("body", n.Body)
	})
	if len(live) > len(page) {
		c.Out.Uint("cursor", uint64(page[len(page)-1].ID))
	}
	return nil
}

func writeNotices(c *api.Call, name string, list []notice.Notice, write func(*notice.Notice)) {
	c.Out.Name(name)
	c.Out.Array()
	for at := range list {
		c.Out.Object()
		write(&list[at])
		c.Out.EndObject()
	}
	c.Out.EndArray()
}

// writeNotice writes the fields that all kinds have, the id under its name for the kind.
func writeNotice(c *api.Call, id string, n *notice.Notice) {
	c.Out.Uint(id, uint64(n.ID))
	c.Out.Time("time", n.Created)
	c.Out.Text("title", n.Title)
}
